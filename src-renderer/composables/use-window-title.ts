import { onScopeDispose, shallowRef, watchEffect } from 'vue';
import { useRoute } from 'vue-router';

/** What the current page names; null where the title of its route says enough. */
const named = shallowRef<(() => string | null) | null>(null);

/** Names what a page shows in the window's title while the page lives. */
export function useTitle(name: () => string | null): void {
  named.value = name;
  // The next page may have named itself already.
  onScopeDispose(() => {
    if (named.value === name) named.value = null;
  });
}

/** Keeps the window's title: "blobs, 4 members · epoch 12/200 – Tutti", or "Runs – Tutti". */
export function useWindowTitle(): void {
  const route = useRoute();
  watchEffect(() => {
    document.title = `${named.value?.() ?? route.meta.title ?? 'Loading'} – Tutti`;
  });
}
