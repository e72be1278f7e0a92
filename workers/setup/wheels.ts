/** A wheel of the Python Package Index, by name, size and SHA-256. */
export interface Wheel {
  project: string;
  name: string;
  bytes: number;
  sha256: string;
}

export const tensorflowVersion = '2.21.0';

const cpuWheels: Record<string, Wheel[]> = {
  x64: [
    {
      project: 'tensorflow-cpu',
      name: 'tensorflow_cpu-2.21.0-cp313-cp313-manylinux_2_27_x86_64.whl',
      bytes: 274271560,
      sha256: '05af7c26d35f4de910b5598c7b507e3981831a7b0f47fed9a405d995d51d7793',
    },
  ],
  arm64: [
    {
      project: 'tensorflow',
      name: 'tensorflow-2.21.0-cp313-cp313-manylinux_2_27_aarch64.whl',
      bytes: 282213003,
      sha256: 'a10abdfb8b1189210c251021a3f153b7ccc52a8e6521351f3dc3331e8ba593e0',
    },
  ],
};

/** TensorFlow with CUDA, and the CUDA 12 and cuDNN 9 libraries that it opens. */
const cudaWheels: Record<string, Wheel[]> = {
  x64: [
    {
      project: 'tensorflow',
      name: 'tensorflow-2.21.0-cp313-cp313-manylinux_2_27_x86_64.whl',
      bytes: 572881074,
      sha256: 'e9d8da8dcab9650efb45f032ba70af2f016f907e6e0c6bda29dd101bba945406',
    },
    {
      project: 'nvidia-cublas-cu12',
      name: 'nvidia_cublas_cu12-12.9.3.13-py3-none-manylinux_2_27_x86_64.whl',
      bytes: 581217458,
      sha256: 'd7d51055f161b317c7105ddaae90e71eda059026074ffef93cf7cde2886bfe72',
    },
    {
      project: 'nvidia-cuda-cupti-cu12',
      name: 'nvidia_cuda_cupti_cu12-12.9.79-py3-none-manylinux_2_25_x86_64.whl',
      bytes: 10814997,
      sha256: '096bcf334f13e1984ba36685ad4c1d6347db214de03dbb6eebb237b41d9d934f',
    },
    {
      project: 'nvidia-cuda-nvcc-cu12',
      name: 'nvidia_cuda_nvcc_cu12-12.9.86-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl',
      bytes: 40546229,
      sha256: '5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0',
    },
    {
      project: 'nvidia-cuda-nvrtc-cu12',
      name: 'nvidia_cuda_nvrtc_cu12-12.9.86-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl',
      bytes: 89568129,
      sha256: '210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4',
    },
    {
      project: 'nvidia-cuda-runtime-cu12',
      name: 'nvidia_cuda_runtime_cu12-12.9.79-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
      bytes: 3493179,
      sha256: '25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3',
    },
    {
      project: 'nvidia-cudnn-cu12',
      name: 'nvidia_cudnn_cu12-9.28.0.42-py3-none-manylinux_2_27_x86_64.whl',
      bytes: 716538495,
      sha256: '9ff58b7f36dacd0a93e89f8f2957b52466889217963701daa15e577317cfa375',
    },
    {
      project: 'nvidia-cufft-cu12',
      name: 'nvidia_cufft_cu12-11.4.1.4-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
      bytes: 200877592,
      sha256: 'c67884f2a7d276b4b80eb56a79322a95df592ae5e765cf1243693365ccab4e28',
    },
    {
      project: 'nvidia-curand-cu12',
      name: 'nvidia_curand_cu12-10.3.10.19-py3-none-manylinux_2_27_x86_64.whl',
      bytes: 68295626,
      sha256: '49b274db4780d421bd2ccd362e1415c13887c53c214f0d4b761752b8f9f6aa1e',
    },
    {
      project: 'nvidia-cusolver-cu12',
      name: 'nvidia_cusolver_cu12-11.7.5.82-py3-none-manylinux_2_27_x86_64.whl',
      bytes: 338117415,
      sha256: '15da72d1340d29b5b3cf3fd100e3cd53421dde36002eda6ed93811af63c40d88',
    },
    {
      project: 'nvidia-cusparse-cu12',
      name: 'nvidia_cusparse_cu12-12.5.10.65-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
      bytes: 366465088,
      sha256: '73060ce019ac064a057267c585bf1fd5a353734151f87472ff02b2c5c9984e78',
    },
    {
      project: 'nvidia-nccl-cu12',
      name: 'nvidia_nccl_cu12-2.32.3-py3-none-manylinux_2_27_x86_64.whl',
      bytes: 351526311,
      sha256: 'bb94b2348e4861d5e8aa00b36c3d12d9bdf9c6369b82cbb723de0b582280a21c',
    },
    {
      project: 'nvidia-nvjitlink-cu12',
      name: 'nvidia_nvjitlink_cu12-12.9.86-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl',
      bytes: 39748338,
      sha256: 'e3f1171dbdc83c5932a45f0f4c99180a70de9bd2718c1ab77d14104f6d7147f9',
    },
  ],
};

/** @throws Error if no wheel with TensorFlow's C library is published for this system */
export function wheelsFor(hasCuda: boolean, platform = process.platform, arch: string = process.arch): Wheel[] {
  const wheels = platform === 'linux' ? (hasCuda ? cudaWheels : cpuWheels)[arch] : undefined;
  if (wheels !== undefined) return wheels;
  const build = hasCuda ? 'TensorFlow with CUDA' : 'TensorFlow';
  const known = hasCuda ? 'Linux on x64' : 'Linux on x64 and arm64';
  throw new Error(
    `${build} cannot be set up on ${platform} ${arch}, only on ${known}. The wasm backend needs no setup.`,
  );
}

const openBlas = (system: string, bytes: number, sha256: string): Wheel => ({
  project: 'scipy-openblas32',
  name: `scipy_openblas32-0.3.34.481.3-py3-none-${system}.whl`,
  bytes,
  sha256,
});

/** OpenBLAS with the C interface and 32-bit sizes; all its names begin with `scipy_`. */
const blasWheels: Record<string, Wheel> = {
  'linux x64': openBlas(
    'manylinux_2_27_x86_64.manylinux_2_28_x86_64',
    7885409,
    '0595f94cd58c1f8a0d90c975621f4587337a003916b1979e834ebdf2cb5d9504',
  ),
  'linux arm64': openBlas(
    'manylinux_2_27_aarch64.manylinux_2_28_aarch64',
    9148457,
    'e085dddbc5b9aa130f83def515d31c440e69f387a90c7e63b154a5575b4466bc',
  ),
  'darwin x64': openBlas(
    'macosx_10_13_x86_64',
    8018075,
    '85d42ee10fd207ed6014273dcb9236ab1a65d21357f278b3aa0a78e8189665a8',
  ),
  'darwin arm64': openBlas(
    'macosx_11_0_arm64',
    5770225,
    '813bb8101da2f64555c4a5e71c3714539d92b0b4f1841ec12b80d50e56cde46c',
  ),
  'win32 x64': openBlas('win_amd64', 7275233, '963e311354df08856c22aad17d77209448d2d8fc3bc4b3b1d87912828797cf13'),
  'win32 arm64': openBlas('win_arm64', 5211881, '64b1637b1c0495552351743e6f5d8bb50828aaea5821bb8d998927837256bda9'),
};

/** @throws Error if OpenBLAS is not published for this system */
export function blasWheelFor(platform: string = process.platform, arch: string = process.arch): Wheel {
  const system = `${platform} ${arch}`;
  if (Object.hasOwn(blasWheels, system)) return blasWheels[system];
  throw new Error(
    `OpenBLAS is not published for ${system}, only for ${Object.keys(blasWheels).join(', ')}. The wasm backend works ` +
      "without it, and uses the system's BLAS where there is one.",
  );
}
