import { flushPromises } from '@vue/test-utils';
import { expect, it } from 'vitest';
import { defineComponent, h } from 'vue';
import { useLooks } from '../../src-renderer/views/discover/rounds/use-looks.ts';
import { type HubAnswers, mountPage } from './mount-page.ts';

/** Shows the names of the wanted candidates that are known, and why others are not. */
const Shown = defineComponent({
  props: { wanted: { type: Array<number>, required: true } },
  setup(props) {
    const { looks, error } = useLooks('search', () => props.wanted);
    const names = () => props.wanted.flatMap((index) => looks.value.get(index)?.texts.name ?? []);
    return () => h('p', `${names().join(' ')}|${error.value ?? ''}`);
  },
});

type Looks = ReturnType<NonNullable<HubAnswers['discoveryCandidates']>>;
const looksOf = (indices: readonly number[]): Looks => ({
  texts: { name: indices.map((index) => `c${index}`) },
  drawings: indices.map(() => null),
});
const range = (length: number, from = 0): number[] => Array.from({ length }, (_, i) => from + i);

async function mountShown(wanted: number[], answer: (indices: readonly number[]) => Looks) {
  const asked: number[][] = [];
  const answers: HubAnswers = {
    discoveryCandidates: (_id, indices) => {
      asked.push([...indices]);
      return answer(indices);
    },
  };
  const { wrapper } = await mountPage(Shown, { props: { wanted } }, answers);
  await flushPromises();
  const want = async (next: number[]): Promise<void> => {
    await wrapper.setProps({ wanted: next });
    await flushPromises();
  };
  return { wrapper, asked, want };
}

it('candidates whose looks could not be read are asked for again when they are next wanted, and only then', async () => {
  let isDown = true;
  const { wrapper, asked, want } = await mountShown([1, 2], (indices) => {
    if (isDown) throw new Error('The pool is locked.');
    return looksOf(indices);
  });
  expect(wrapper.text()).toBe('|The pool is locked.');
  expect(asked).toEqual([[1, 2]]);
  await want([2, 3]);
  expect(asked).toEqual([
    [1, 2],
    [2, 3],
  ]);
  isDown = false;
  await want([1, 2, 3]);
  expect(wrapper.text()).toBe('c1 c2 c3|');
  expect(asked.at(-1)).toEqual([1, 2, 3]);
});

it('candidates are read once, at most 500 at a time, until all are known', async () => {
  const { wrapper, asked, want } = await mountShown(range(1_100), looksOf);
  await expect.poll(() => wrapper.text().includes('c1099|')).toBe(true);
  expect(asked.map(({ length }) => length)).toEqual([500, 500, 100]);
  await want([7, 1_200]);
  expect(asked.slice(3)).toEqual([[1_200]]);
  expect(wrapper.text()).toBe('c7 c1200|');
});

it('a part that fails leaves what is known, and what is then wanted is read in its place', async () => {
  const { wrapper, asked, want } = await mountShown(range(501), (indices) => {
    if (indices.includes(500)) throw new Error('Candidate 500 is damaged.');
    return looksOf(indices);
  });
  expect(wrapper.text()).toContain('c499|Candidate 500 is damaged.');
  expect(asked).toHaveLength(2);
  await want([3, 600]);
  expect(wrapper.text()).toBe('c3 c600|');
});
