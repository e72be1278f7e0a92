import { createHash } from 'node:crypto';
import type { Finding } from '../../../core/preprocessing/profile.ts';

/** What is known of an image beside its bytes. */
interface Place {
  file: string;
  split: string;
  /** Null: its target is no class. */
  label: string | null;
}

/** Finds images of the same bytes. */
export class EqualImages {
  readonly #files = new Map<string, string[]>();

  add(file: string, content: Uint8Array): void {
    const hash = createHash('sha1').update(content).digest('base64');
    const files = this.#files.get(hash);
    if (files === undefined) this.#files.set(hash, [file]);
    else files.push(file);
  }

  /** A warning of images that occur several times: in several splits, in several classes, or anywhere. */
  findings(places: readonly Place[]): Finding[] {
    const placeOf = new Map(places.map((place) => [place.file, place]));
    // In the order of names: files are read several at a time.
    const groups = [...this.#files.values()]
      .map((files) => files.toSorted().flatMap((file) => placeOf.get(file) ?? []))
      .filter(({ length }) => length > 1)
      .toSorted(([a], [b]) => (a.file < b.file ? -1 : 1));
    const copies = groups.reduce((sum, { length }) => sum + length - 1, 0);
    if (copies === 0) return [];
    const differing = (key: 'split' | 'label') =>
      groups.filter((group) => group.some((own) => own[key] !== group[0][key]));
    const [ofSplits, ofClasses] = [differing('split'), differing('label')];
    const [shown] = [...ofSplits, ...ofClasses, ...groups];
    const [first] = shown;
    const second = shown.find(({ split, label }) => split !== first.split || label !== first.label) ?? shown[1];
    const counts = [
      ...(ofSplits.length === 0 ? [] : [`${ofSplits.length} in several splits`]),
      ...(ofClasses.length === 0 ? [] : [`${ofClasses.length} in several classes`]),
    ];
    const shared = counts.length === 0 ? '' : ` Images that occur several times: ${counts.join(' and ')}.`;
    const message =
      `${copies === 1 ? '1 image repeats' : `${copies} images repeat`} another one, such as ${first.file} and ` +
      `${second.file}.${shared} A copy in the training and the test split makes the test look better than it is.`;
    return [{ level: 'warning', kind: 'duplicates', column: null, message, choices: null, option: null }];
  }
}
