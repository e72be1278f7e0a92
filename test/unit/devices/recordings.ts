import type { CommandResult, CommandRunner } from '../../../src-main/processes/command.ts';

/** Output of the vendors' tools, from published outputs and the tools' sources. No device is needed. */

/**
 * A runner that replays recordings, looked up first by command and first argument, then by command, or else "absent".
 */
export function replay(recordings: Record<string, CommandResult | string>): CommandRunner {
  return (command, args) => {
    const recorded = recordings[`${command} ${args[0]}`] ?? recordings[command] ?? { status: 'absent' };
    return Promise.resolve(typeof recorded === 'string' ? exited(0, recorded) : recorded);
  };
}

export function exited(exitCode: number, stdout: string, stderr = ''): CommandResult {
  return { status: 'exited', exitCode, stdout, stderr };
}

export const nvidiaQueries = {
  gpus: 'nvidia-smi --query-gpu=index,name,uuid,memory.total,memory.used,utilization.gpu',
  processes: 'nvidia-smi --query-compute-apps=gpu_uuid,pid',
};

export const twoA100s = `0, NVIDIA A100-SXM4-80GB, GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, 81920, 36537, 97
1, NVIDIA A100-SXM4-80GB, GPU-a25704ba-3a06-5299-a795-fd7cf4d13973, 81920, 4, 0
`;

/** With MIG enabled the GPU reports no utilization, and its processes run on instances with separate UUIDs. */
export const migA100 = '0, NVIDIA A100-SXM4-80GB, GPU-7fdaf0a5-179b-f636-d15d-daf243e3ff16, 81920, 36537, [N/A]\n';

/** GeForce cards of the Fermi and Kepler generations. */
export const oldGeForce = '0, GeForce GT 710, GPU-b0cb2f4c-5ab0-4e3d-a9d0-6f9a4a4bb87e, 2002, 297, [Not Supported]\n';

/** Published with rocm-smi of ROCm 6, `--showproductname --showuse --showmeminfo vram --json`. */
export const radeon7900 = `{"card0": {"GPU use (%)": "0", "VRAM Total Memory (B)": "21458059264",
"VRAM Total Used Memory (B)": "27856896", "Card Series": "Radeon RX 7900 XT", "Card Model": "0x744c",
"Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]", "Card SKU": "D70401XT", "Subsystem ID": "0x471e",
"Device Rev": "0xcc", "Node ID": "1", "GUID": "26967", "GFX Version": "gfx1100"}}
`;

/** ROCm 5 spells keys differently and prints a warning before the JSON. */
export const twoMi250s = `WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status

{"card0": {"GPU ID": "0x740f", "GPU use (%)": "99", "VRAM Total Memory (B)": "68702699520",
"VRAM Total Used Memory (B)": "61201604608", "Card series": "AMD INSTINCT MI250", "Card model": "0x0b0c"},
"card1": {"GPU ID": "0x740f", "GPU use (%)": "N/A", "VRAM Total Memory (B)": "68702699520",
"VRAM Total Used Memory (B)": "10936320", "Card series": "N/A", "Card model": "0x0b0c"},
"system": {"Driver version": "6.3.6"}}
`;

/** `rocm-smi --showpidgpus`: the second process holds a context and no GPU. */
export const rocmProcesses = `

============================ ROCm System Management Interface ============================
================================== GPUs Indexed by PID ===================================
PID 1168514 is using 1 DRM device(s):
0 
PID 3722222 is using 0 DRM device(s)
PID 55573 is using 2 DRM device(s):
0 1 
==========================================================================================
================================== End of ROCm SMI Log ===================================
`;
