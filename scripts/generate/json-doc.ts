/**
 * Writes docs/json.md from the schemas of what commands print with `--json`. `--check` writes nothing and fails if the
 * page is outdated.
 */
import { z } from 'zod';
import { jsonOutputs } from '../../core/protocol/pages/json-outputs.ts';
import {
  attemptSchema,
  checkpointRecordSchema,
  evaluatedSetSchema,
  runEventSchema,
  runRecordSchema,
} from '../../core/protocol/run/record.ts';
import { postprocessingSchema } from '../../core/postprocessing/schema.ts';
import { realNumber } from '../../core/protocol/wire/numbers.ts';
import { writeOrCheck } from './generated-page.ts';

const introduction = `# JSON output

Generated from \`core/protocol/pages/json-outputs.ts\` by \`scripts/generate/json-doc.ts\`. Edit the schemas, not this page.

With \`--json\` (\`-j\`), a command prints only JSON on stdout: one object, or one object on each line. Messages for people go to stderr, and the exit codes are those
of \`tutti --help\`. Numbers that are not finite are the strings \`"NaN"\`, \`"Infinity"\` and \`"-Infinity"\`. Epochs count from 0. New versions may add fields and types of
lines, so ignore those that you do not know.
`;

/** Parts that another page describes. */
const elsewhere = new Map<unknown, string>([
  [postprocessingSchema, '[postprocessing](formats.md#postprocessingsetjson)'],
  [runRecordSchema, '[run record](formats.md#runjson)'],
  [runEventSchema, '[event](formats.md#eventsjsonl)'],
  [attemptSchema, '[attempt](formats.md#runjson)'],
  [evaluatedSetSchema, '[evaluated set](formats.md#runjson)'],
  [checkpointRecordSchema, '[checkpoint](formats.md#checkpointsrank-rname)'],
]);

type Node = z.core.JSONSchema.JSONSchema;

const sections = jsonOutputs.map(({ commands, isLines, schema }) => {
  const names = commands.map((name) => `\`tutti ${name}\``).join(', ');
  const node = nodeOf(schema);
  const variants = node.oneOf ?? node.anyOf;
  const intro = isLines ? 'One object on each line' : 'One object';
  const body =
    variants === undefined
      ? `${intro}.\n\n${tableOf(node)}`
      : [`${intro}; its \`type\` says which.`, ...variants.map((variant) => describeVariant(variant))].join('\n\n');
  return `## ${names}\n\n${body}\n`;
});
writeOrCheck(
  'docs/json.md',
  [introduction, ...sections].join('\n'),
  'core/protocol/pages/json-outputs.ts',
  'node scripts/generate/json-doc.ts',
);

function nodeOf(schema: z.ZodType): Node {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const link = elsewhere.get(zodSchema);
      if (link === undefined && zodSchema !== realNumber) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
      jsonSchema.title = link ?? 'number';
    },
  });
}

function describeVariant(node: Node): string {
  const { description = '', properties } = node;
  const type = (properties?.type as Node | undefined)?.const;
  if (type === undefined) return `### ${description.replace(/\.$/, '')}\n\n${tableOf(node)}`;
  return `### \`${String(type)}\`\n\n${description}\n\n${tableOf(node)}`;
}

function tableOf(node: Node): string {
  const rows = fieldsOf(node, '').map(({ path, type, help }) => `| \`${path}\` | ${type} | ${help} |`);
  return ['| Field | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

interface Field {
  path: string;
  type: string;
  help: string;
}

/** The fields of an object, those of objects in it after it: `about.samples.train`, `loads[].device`. */
function fieldsOf(node: Node, prefix: string): Field[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    if (typeof child === 'boolean' || (prefix === '' && name === 'type' && child.const !== undefined)) return [];
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const isOptional = !(node.required ?? []).includes(name);
    const help = [isOptional ? 'may be absent' : '', child.description ?? ''].filter(Boolean).join('; ');
    const own = { path, type: typeOf(child), help };
    const item = typeof child.items === 'object' && !Array.isArray(child.items) ? present(child.items) : null;
    if (item !== null) return [own, ...fieldsOf(item, `${path}[]`)];
    return [own, ...fieldsOf(present(child), path)];
  });
}

/** The variant beside null. */
function present(node: Node): Node {
  const variants = node.anyOf ?? [];
  return variants.find(({ type }) => type !== 'null') ?? node;
}

function typeOf(node: Node): string {
  if (node.title !== undefined) return node.title;
  const variants = node.anyOf ?? node.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].join(' or ');
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (node.type === 'array') return `array of ${typeOf((node.items ?? {}) as Node)}`;
  return node.type === undefined ? 'any value' : [node.type].flat().join(' or ');
}
