import { computed, type ComputedRef, type WritableComputedRef } from 'vue';
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

export interface QueryParameters<Name extends string> {
  values: ComputedRef<Record<Name, string>>;
  /** Changes several at once: one change after the other would undo the first, because the address follows later. */
  change: (changes: Partial<Record<Name, string>>) => void;
}

/** Several query parameters of the address, each with its default. */
export function useQueryParameters<Name extends string>(
  defaults: Readonly<Record<Name, string>>,
): QueryParameters<Name> {
  const route = useRoute();
  const router = useRouter();
  const names = Object.keys(defaults) as Name[];
  const valueOf = (name: Name): string => {
    const value = route.query[name];
    return typeof value === 'string' ? value : defaults[name];
  };
  return {
    values: computed(() => Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, string>),
    change(changes) {
      const named = Object.entries<string | undefined>(changes);
      const own = named.map(([name, value]) => [name, value === defaults[name as Name] ? undefined : value]);
      void router.replace({ query: { ...router.currentRoute.value.query, ...Object.fromEntries(own) } });
    },
  };
}
