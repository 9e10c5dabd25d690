import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isEnumType, isInputObjectType, isRequiredInputField, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { readPage } from '../support/samples.ts';

// No compiler of Swift or of Kotlin with its libraries runs here; what their code takes of the schema and of the operations is checked all the same.
const root = join(import.meta.dirname, '..', '..', '..');
const schema = buildSchema(readFileSync(join(root, 'schema.graphql'), 'utf8'));
const { samples } = readPage('docs/clients/native.md');
const textOf = (language: string) =>
  samples.flatMap((sample) => (sample.language === language ? [sample.text] : [])).join('\n');
const document = parse(textOf('graphql'));
const operations = document.definitions.flatMap((each) =>
  each.kind === 'OperationDefinition' ? [each] : [],
);
const selected = (name: string) => {
  const operation = operations.find((each) => each.name?.value === name);
  const [field] = operation?.selectionSet.selections ?? [];
  if (field?.kind !== 'Field') throw new Error(`${name} selects no field`);
  const fields = field.selectionSet?.selections.flatMap((each) =>
    each.kind === 'Field' ? [each.name.value] : [],
  );
  return { field: field.name.value, fields: fields ?? [] };
};
const live = selected('Live');

function inputOf(name: string) {
  const type = schema.getType(name);
  if (!isInputObjectType(type)) throw new Error(`${name} is no input`);
  return Object.values(type.getFields());
}

function valuesOf(name: string) {
  const type = schema.getType(name);
  if (!isEnumType(type)) throw new Error(`${name} is no enum`);
  return type.getValues().map((value) => value.name);
}

/** The text in the parentheses after a call's name. */
function argumentsOf(code: string, call: string): string {
  const from = code.indexOf(`${call}(`) + call.length + 1;
  let depth = 1;
  let to = from;
  for (; depth > 0 && to < code.length; to += 1) {
    if (code[to] === '(') depth += 1;
    if (code[to] === ')') depth -= 1;
  }
  return code.slice(from, to - 1);
}

/** The labels of a call's own arguments, in their order. */
function labelsOf(code: string, call: string, sign: ':' | '='): string[] {
  let own = argumentsOf(code, call);
  for (let before = ''; before !== own; ) {
    before = own;
    own = own.replace(/\([^()]*\)/g, '');
  }
  return [...own.matchAll(new RegExp(`(\\w+)\\s*${sign}`, 'g'))].map(([, label]) => label ?? '');
}

describe.each([
  ['swift', ':', 'Api.PlaceOrderInput', 'Api.OrderSize'],
  ['kotlin', '=', 'PlaceOrderInput', 'OrderSize'],
] as const)('the %s of the guide', (language, sign, placeOrderInput, orderSize) => {
  const code = textOf(language);

  test('uses the models of the operations on the page alone', () => {
    const models = new Set(code.match(/\b(?!GraphQL)[A-Z]\w+(?:Subscription|Mutation|Query)\b/g));
    const made = operations.map(({ name, operation }) => {
      return `${name?.value}${operation[0]?.toUpperCase()}${operation.slice(1)}`;
    });
    expect([...models].toSorted()).toEqual(made.toSorted());
  });

  test('reads fields that the subscription selects', () => {
    expect(code).toContain(`.${live.field}`);
    const read = [...code.matchAll(/\bevent\.(\w+)/g)].map(([, field]) => field);
    expect(new Set(read).size).toBeGreaterThan(4);
    expect(live.fields).toEqual(expect.arrayContaining(read));
  });

  test('passes each field that an order requires, and no other than those of the schema', () => {
    const fields = inputOf('PlaceOrderInput');
    const labels = labelsOf(code, placeOrderInput, sign);
    const known = fields.map(({ name }) => name).filter((name) => labels.includes(name));
    // Swift takes labels in the schema's order alone.
    expect(language === 'swift' ? labels : labels.toSorted()).toEqual(known);
    const required = fields.filter(isRequiredInputField).map(({ name }) => name);
    expect(labels).toEqual(expect.arrayContaining(required));
    expect(inputOf('OrderSize').map(({ name }) => name)).toEqual(
      expect.arrayContaining(labelsOf(code, orderSize, sign)),
    );
  });
});

test('both ask for the network before an order is kept or sent', () => {
  for (const language of ['swift', 'kotlin']) {
    const code = textOf(language);
    expect(code).toMatch(
      /func? place\([^{]*\{\s*if \(?!network\.isOnline\)? (?:\{ )?throw Offline\(\)/,
    );
  }
});

test('both give up on a token that stays refused, and keep the key of an order before they send it', () => {
  for (const language of ['swift', 'kotlin']) {
    const code = textOf(language);
    expect(code).toMatch(/code == 4403[\s\S]*?refused != n[\s\S]*?throw [\s\S]*?refused = token/);
    expect(code).toMatch(/SignedOut/);
    const [keeping, sending] = [/keep\(key, since\)|\.atomic/, /ask\((?:Api\.)?PlaceMutation/];
    expect(code.search(keeping)).toBeGreaterThan(0);
    expect(code.search(keeping)).toBeLessThan(code.search(sending));
  }
});

test('values of enums are those of the schema', () => {
  const swift = [
    ...textOf('swift').matchAll(/(kind|side): (?:\.some\(\.case\(\.|\.)(?!case\b)(\w+)/g),
  ];
  expect(swift.map(([, field, value]) => [field, value?.toUpperCase()])).toEqual([
    ['kind', valuesOf('PlaceOrderKind').find((value) => value === 'MARKET')],
    ['side', valuesOf('Side').find((value) => value === 'BUY')],
  ]);
  const kotlin = [...textOf('kotlin').matchAll(/\b(Side|PlaceOrderKind)\.(\w+)/g)];
  expect(kotlin).toHaveLength(2);
  for (const [, name = '', value] of kotlin) expect(valuesOf(name)).toContain(value);
});
