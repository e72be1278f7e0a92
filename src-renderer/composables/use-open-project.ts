import { useRouter } from 'vue-router';
import { useHub } from '../client/use-hub.ts';

/** Opens a folder as a project: adds it to the list and shows its form, or its card if the user has not trusted it yet. The returned function throws if the folder has no project. */
export function useOpenProject(): (folder: string) => Promise<void> {
  const hub = useHub();
  const router = useRouter();
  return async (folder) => {
    const project = await hub.openProject(folder);
    await router.push(
      project.isTrusted
        ? { name: 'configure', query: { project: project.folder } }
        : { name: 'projects', query: { opened: project.folder } },
    );
  };
}
