import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The content of a file after each change that was not flushed yet. The first one survives any power cut. */
interface Inode {
  versions: Uint8Array[];
}

/** A change of names in folders, which takes effect as a whole. */
interface NameChange {
  /** Name, and the inode or folder that it has from now on; null: none. */
  names: Map<string, number | 'folder' | null>;
  isDurable: boolean;
}

/** How much of what was not flushed survives a power cut. */
export interface Survival {
  /** Whether the change of names with this number survives. */
  keepsName(change: number): boolean;
  /**
   * Picks a version of a file, 0 the flushed one, `last` the present one. `torn`: the half of it, `zeros`: its length
   * in zeros.
   */
  version(last: number): { index: number; damage: 'none' | 'torn' | 'zeros' };
}

interface Snapshot {
  inodes: Inode[];
  changes: NameChange[];
}

/**
 * A model of a disk with a volatile cache. Data survive a power cut only after `fsync` of the file, names only after
 * `fsync` of their folder. Before that, each may survive, be lost, or (data) survive in part; names are not ordered
 * among each other or with data.
 */
export class DiskJournal {
  readonly #root: string;
  readonly #inodes: Inode[] = [];
  readonly #changes: NameChange[] = [];
  /** Present names. */
  readonly #names = new Map<string, number | 'folder'>();
  readonly #snapshots: Snapshot[] = [];

  constructor(root: string) {
    this.#root = root;
    this.#load(root);
  }

  /** Number of the points in time at which {@link restore} can cut the power. */
  get points(): number {
    return this.#snapshots.length + 1;
  }

  /** Call it before each system call. */
  beginCall(): void {
    this.#snapshots.push(this.#snapshot());
  }

  inodeOf(path: string): number | null {
    const found = this.#names.get(path);
    return typeof found === 'number' ? found : null;
  }

  created(path: string): void {
    this.#inodes.push({ versions: [new Uint8Array()] });
    this.#change([[path, this.#inodes.length - 1]]);
    this.changed(path);
  }

  renamed(from: string, to: string): void {
    this.#change([
      [to, this.#names.get(from) ?? null],
      [from, null],
    ]);
  }

  linked(from: string, to: string): void {
    this.#change([[to, this.#names.get(from) ?? null]]);
  }

  removed(path: string): void {
    if (this.#names.has(path)) this.#change([[path, null]]);
  }

  madeFolder(path: string): void {
    if (path === this.#root || this.#names.has(path)) return;
    this.madeFolder(dirname(path));
    this.#change([[path, 'folder']]);
  }

  /** The file may have other content now. */
  changed(path: string): void {
    const inode = this.inodeOf(path);
    if (inode !== null) this.written(inode, path);
  }

  /** The file with this inode may have other content now; `path` was its name when it was opened. */
  written(inode: number, path: string): void {
    const name = this.#names.get(path) === inode ? path : [...this.#names].find(([, of]) => of === inode)?.[0];
    if (name === undefined || !existsSync(name)) return;
    const { versions } = this.#inodes[inode];
    const content = readFileSync(name);
    if (!content.equals(versions[versions.length - 1])) versions.push(content);
  }

  synced(inode: number | null, path: string, isFolder: boolean): void {
    if (!isFolder && inode !== null) this.#inodes[inode].versions.splice(0, this.#inodes[inode].versions.length - 1);
    if (!isFolder) return;
    for (const change of this.#changes) {
      if ([...change.names.keys()].some((name) => dirname(name) === path)) change.isDurable = true;
    }
  }

  /** Writes the files below `into` as a power cut before call `point` may leave them. */
  restore(point: number, survival: Survival, into: string): void {
    const { inodes, changes } = this.#snapshots[point] ?? this.#snapshot();
    const names = new Map<string, number | 'folder'>();
    for (const [number, change] of changes.entries()) {
      if (!change.isDurable && !survival.keepsName(number)) continue;
      for (const [name, target] of change.names) {
        if (target === null) names.delete(name);
        else names.set(name, target);
      }
    }
    const written = new Map<number, string>();
    for (const [name, target] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!this.#hasParents(name, names)) continue;
      const path = join(into, relative(this.#root, name));
      if (target === 'folder') mkdirSync(path, { recursive: true });
      else if (written.has(target)) linkSync(written.get(target) ?? '', path);
      else {
        writeFileSync(path, contentOf(inodes[target], survival));
        written.set(target, path);
      }
    }
  }

  #hasParents(name: string, names: ReadonlyMap<string, unknown>): boolean {
    if (name === this.#root) return true;
    const parent = dirname(name);
    return parent === this.#root || (names.get(parent) === 'folder' && this.#hasParents(parent, names));
  }

  #change(names: [string, number | 'folder' | null][]): void {
    for (const [name, target] of names) {
      if (target === null) this.#names.delete(name);
      else this.#names.set(name, target);
    }
    this.#changes.push({ names: new Map(names), isDurable: false });
  }

  #snapshot(): Snapshot {
    return {
      inodes: this.#inodes.map(({ versions }) => ({ versions: [...versions] })),
      changes: this.#changes.map((change) => ({ ...change })),
    };
  }

  /** Takes what is there as flushed. */
  #load(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        this.#names.set(path, 'folder');
        this.#changes.push({ names: new Map([[path, 'folder']]), isDurable: true });
        this.#load(path);
      } else {
        this.#inodes.push({ versions: [readFileSync(path)] });
        const inode = this.#inodes.length - 1;
        this.#names.set(path, inode);
        this.#changes.push({ names: new Map([[path, inode]]), isDurable: true });
      }
    }
  }
}

function contentOf({ versions }: Inode, survival: Survival): Uint8Array {
  const { index, damage } = survival.version(versions.length - 1);
  const content = versions[index];
  if (index === 0 || damage === 'none') return content;
  const kept = Math.min(versions[0].length, content.length);
  if (damage === 'torn') return content.subarray(0, kept + Math.floor((content.length - kept) / 2));
  // The length is on the disk, the data are not.
  return Buffer.concat([content.subarray(0, kept), Buffer.alloc(content.length - kept)]);
}
