import { z } from 'zod';
import { tutti } from '../../text/program.ts';

/** What `tutti setup --webgpu` leaves in its folder, as `build.json`: versions of the npm packages. */
export const webgpuBuildSchema = z.strictObject({ webgpu: z.string(), tfjsBackendWebgpu: z.string() });
export type WebgpuBuild = z.output<typeof webgpuBuildSchema>;

/** Names the folder of the WebGPU build to every process that Tutti starts. */
export const webgpuFolderVariable = 'TUTTI_WEBGPU';

/** Names the adapter of a rank's device to its worker. Without it a process takes the first that is a GPU. */
export const webgpuAdapterVariable = 'TUTTI_WEBGPU_ADAPTER';

/** What to do where the WebGPU build is missing or damaged. */
export const webgpuSetupRemedy = `Run ${tutti} setup --webgpu, or train with --backend wasm.`;

/** What to do where Dawn finds no GPU, on a platform as Node names it. */
export function webgpuDriverRemedy(platform: string): string {
  if (platform === 'linux')
    return "Install the GPU's Vulkan driver, and Vulkan's loader (on Debian and Ubuntu: apt install libvulkan1).";
  return platform === 'win32' ? "Install the driver of the GPU's maker." : 'It needs a system with Metal.';
}

/** A GPU as Dawn lists it, or a program that stands in for one. Several may have one name. */
export const webgpuAdapterSchema = z.strictObject({
  name: z.string(),
  /** It computes on the CPU, as SwiftShader and lavapipe do. */
  isSoftware: z.boolean(),
});
export type WebgpuAdapter = z.output<typeof webgpuAdapterSchema>;

/** What `workers/entries/list-adapters.ts` answers. */
export const adaptersReplySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('listed'), adapters: z.array(webgpuAdapterSchema) }),
  z.strictObject({ kind: z.literal('failed'), reason: z.string() }),
]);
export type AdaptersReply = z.output<typeof adaptersReplySchema>;
