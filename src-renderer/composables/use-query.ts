import { computed, type WritableComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';

/** One parameter of the address as a value: what stands at its default is left out of the address. */
export function useQueryParameter(name: string, fallback = ''): WritableComputedRef<string> {
  const route = useRoute();
  const router = useRouter();
  return computed({
    get: () => {
      const value = route.query[name];
      return typeof value === 'string' ? value : fallback;
    },
    set: (value) => {
      const query = { ...router.currentRoute.value.query, [name]: value === fallback ? undefined : value };
      void router.replace({ query });
    },
  });
}
