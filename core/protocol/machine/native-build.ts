import { z } from 'zod';
import { tutti } from '../../text/program.ts';

/** A path below the folder of the build: the file must not lead the loader elsewhere. */
const inside = z
  .string()
  .refine(
    (path) => !/^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)/.test(path),
    'must be a path below the folder of build.json',
  );

/** What `tutti setup` leaves beside the libraries it set up, as `build.json`. Paths are relative to its folder. */
export const nativeBuildSchema = z.strictObject({
  tensorflow: z.string(),
  tfjsNode: z.string(),
  hasCuda: z.boolean(),
  binding: inside,
  /** Where the system's loader finds the CUDA libraries that TensorFlow opens by name. */
  libraryFolders: z.array(inside),
});
export type NativeBuild = z.output<typeof nativeBuildSchema>;

/** What to do where the TensorFlow build is missing or damaged. */
export const nativeSetupRemedy = `Run ${tutti} setup (with --gpu for NVIDIA GPUs), or train with --backend wasm.`;

/** Names the folder of the native TensorFlow to every process that Tutti starts. */
export const nativeFolderVariable = 'TUTTI_TENSORFLOW';
