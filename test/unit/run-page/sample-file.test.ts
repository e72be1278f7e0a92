import { describe, expect, it } from 'vitest';
import type { SampleField, SampleForm, UploadRequest } from '../../../core/protocol/pages/new-samples.ts';
import { chooseFile, rowFile, sendFile } from '../../../src-renderer/views/run/predict/sample-file.ts';

const field = (name: string, type: SampleField['type'], isOptional = false): SampleField => ({
  name,
  type,
  categories: [],
  mean: null,
  isOptional,
});
const fields = [
  field('fare', 'number'),
  field('alone', 'boolean'),
  field('age', 'number', true),
  field('port', 'category'),
];
const form: SampleForm = { set: 'final', ranks: [0, 1], fields, series: null, takesImages: false };

/** A file of that size, which nobody reads. */
function sized(bytes: number): File {
  return Object.defineProperty(new File(['x'], 'a.csv'), 'size', { value: bytes });
}

describe('a filled-in row', () => {
  it('becomes one JSON line with values of the types of its columns', () => {
    const { ending, bytes } = rowFile(fields, { fare: '7.25', alone: 'false', age: '', port: '3' });
    expect(ending).toBe('jsonl');
    expect(new TextDecoder().decode(bytes)).toBe('{"fare":7.25,"alone":false,"age":null,"port":"3"}\n');
  });

  it('names the field without a value, or without a number', () => {
    expect(() => rowFile(fields, { alone: 'true' })).toThrow('"fare" has no value');
    expect(() => rowFile(fields, { fare: 'much' })).toThrow('"fare" is "much", which is not a number');
  });
});

describe('a chosen file', () => {
  it('is known by its ending', () => {
    const file = new File(['a,b\n1,2\n'], 'My Rows.CSV');
    expect(chooseFile(file, form)).toEqual({ ending: 'csv', file });
  });

  it.each([
    ['another kind', new File(['x'], 'cat.png'), 'cat.png is not a file that this ensemble takes here'],
    ['no ending', new File(['x'], 'csv2'), 'Choose one of csv, tsv'],
    ['nothing in it', new File([], 'a.csv'), 'a.csv is empty'],
    ['too many bytes', sized(2 ** 30 + 1), 'has 1 GiB, and a page sends at most 1 GiB.'],
  ])('is refused: %s', (_what, file, message) => {
    expect(() => chooseFile(file, form)).toThrow(message);
  });

  it('is an image where the ensemble takes images', () => {
    const file = new File(['x'], 'cat.png');
    expect(chooseFile(file, { ...form, takesImages: true })).toEqual({ ending: 'png', file });
  });
});

describe('sending a file', () => {
  /** 2.5 million bytes, of which each has its own place. */
  const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => i % 251);
  const file = new File([bytes], 'rows.csv');

  /** A hub that keeps what it gets. @param most parts that it takes before it refuses */
  function openHub(most = Infinity) {
    const parts: Uint8Array[] = [];
    const calls: string[] = [];
    return {
      parts,
      calls,
      hub: {
        openUpload: async (request: UploadRequest) => {
          calls.push(`open ${'name' in request ? request.name : request.ending} ${request.bytes}`);
          return 'upload-1';
        },
        sendPart: async (upload: string, part: Uint8Array) => {
          if (parts.length === most) throw new Error('The disk is full.');
          calls.push(`${upload} ${part.length}`);
          parts.push(part);
        },
        dropUpload: async (upload: string) => void calls.push(`drop ${upload}`),
      },
    };
  }

  it('takes parts of a megabyte and says how far it is; a small file needs none', async () => {
    const { hub, parts, calls } = openHub();
    const told: number[] = [];
    const options = { tell: (sent: number) => void told.push(sent), signal: new AbortController().signal };
    expect(await sendFile(hub, { ending: 'csv', file }, options)).toEqual({ upload: 'upload-1' });
    expect(calls).toEqual(['open csv 2500000', 'upload-1 1000000', 'upload-1 1000000', 'upload-1 500000']);
    expect(told).toEqual([1_000_000, 2_000_000, 2_500_000]);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
    const small = new File(['a\n1\n'], 'a.csv');
    expect(await sendFile(hub, { ending: 'csv', file: small }, options)).toEqual({
      ending: 'csv',
      bytes: new TextEncoder().encode('a\n1\n'),
    });
    expect(calls).toHaveLength(4);
  });

  it('removes what was sent when it fails or is cancelled', async () => {
    const { hub, calls } = openHub(1);
    const options = { tell: () => undefined, signal: new AbortController().signal };
    await expect(sendFile(hub, { ending: 'csv', file }, options)).rejects.toThrow('The disk is full.');
    expect(calls.at(-1)).toBe('drop upload-1');
    const other = openHub();
    const cancelling = new AbortController();
    const tell = () => cancelling.abort(new Error('Cancelled.'));
    const sending = sendFile(other.hub, { ending: 'csv', file }, { tell, signal: cancelling.signal });
    await expect(sending).rejects.toThrow('Cancelled.');
    expect(other.calls).toEqual(['open csv 2500000', 'upload-1 1000000', 'drop upload-1']);
  });
});
