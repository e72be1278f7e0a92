import { watchDebounced } from '@vueuse/core';
import { type Ref, shallowRef, watch } from 'vue';
import { useRoute } from 'vue-router';
import { type Brushes, readBrushes, writeBrushes } from './brushes.ts';
import { useQueryParameter } from '../composables/use-query.ts';

/** How long a brush must rest before the address gets it. */
const addressPauseMs = 200;

/**
 * The brushes of a page, which its address keeps. A drag changes them with every frame; the address gets them when it rests.
 * @param page the name of its route
 */
export function useAddressedBrushes(page: string): Ref<Brushes> {
  const written = useQueryParameter('only');
  const brushes = shallowRef(readBrushes(written.value));
  const route = useRoute();
  watchDebounced(
    brushes,
    (value) => {
      // The reader may have left the page meanwhile.
      if (route.name === page) written.value = writeBrushes(value);
    },
    { debounce: addressPauseMs },
  );
  watch(written, (text) => {
    if (text !== writeBrushes(brushes.value)) brushes.value = readBrushes(text);
  });
  return brushes;
}
