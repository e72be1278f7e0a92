import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeOptions, parseOptionValue } from '../../../core/options/index.ts';

function parse(schema: z.ZodType, text: string): unknown {
  return parseOptionValue(describeOptions(z.object({ someOption: schema }))[0], text);
}

const optimizer = z.enum(['sgd', 'adam', 'adamw']);

describe('parseOptionValue', () => {
  it.each<[z.ZodType, string, unknown]>([
    [z.int().min(1), '64', 64],
    [z.int(), ' -3 ', -3],
    [z.int(), '1e3', 1000],
    [z.number(), '1e-3', 0.001],
    [z.number().min(0).lt(1), '0', 0],
    [z.boolean(), 'true', true],
    [z.boolean(), 'false', false],
    [optimizer, 'adam', 'adam'],
    [z.string(), '', ''],
    [z.array(z.int()), '[512, 256]', [512, 256]],
    [z.int().nullable(), 'null', null],
  ])('%#: reads %2$j', (schema, text, value) => expect(parse(schema, text)).toEqual(value));

  it.each<[z.ZodType, string, string]>([
    [z.int().min(1).default(128), '0', '--some-option "0": it must be a whole number of at least 1.'],
    [z.int().min(1).default(128), '', 'Leave it out for the default, 128.'],
    [z.int(), '1.5', '--some-option "1.5": it must be a whole number. It has no default.'],
    [z.int(), '9007199254740993', 'a whole number'],
    [z.number(), 'abc', '--some-option "abc": it must be a number.'],
    [z.number(), 'NaN', 'a number'],
    [z.number(), 'Infinity', 'a number'],
    [z.number().min(0).lt(1), '1', 'a number of at least 0 and below 1'],
    [z.number().positive().max(1), '0', 'a number above 0 and of at most 1'],
    [z.number().min(0).max(1), '1.01', 'a number from 0 to 1'],
    [z.boolean().default(true), 'yes', '--some-option "yes": it must be true or false.'],
    [optimizer, 'adams', '--some-option "adams": it must be one of sgd, adam, adamw. Did you mean adam?'],
    [optimizer.default('adam'), 'lion-optimizer', 'Leave it out for the default, "adam".'],
    [z.array(z.int()), '[512,', '--some-option "[512,": it must be JSON'],
  ])('%#: refuses with the rule and the remedy: %2$s', (schema, text, message) => {
    expect(() => parse(schema, text)).toThrow(message);
  });
});
