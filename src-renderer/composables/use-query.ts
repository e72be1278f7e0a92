import { computed, type WritableComputedRef } from 'vue';
import { useRoute, useRouter } from 'vue-router';

/** One query parameter of the address. At its default it is left out of the address. */
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
