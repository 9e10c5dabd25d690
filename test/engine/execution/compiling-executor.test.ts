import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';
import { executeRootSelectionSet, type ValidatedExecutionArgs } from 'graphql';
import { describe, expect, test } from 'vitest';
import { CompiledCodeCache } from '../../../engine/execution/compiled-code.ts';
import { argsOf, askValid, compiledFrom, meterFor, shown } from './both-executors.ts';

describe('what a client writes', () => {
  test.each([
    '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74dglobalThis.wasRun=1',
    '"); globalThis.wasRun = 1; ("',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what would happen if it were one
    '${globalThis.wasRun = 1}',
    '\u2028globalThis.wasRun = 1\u2029',
    '*/ globalThis.wasRun = 1 /*',
  ])('is a text to it, never a program: %j', async (text) => {
    const must = JSON.stringify(text);
    const { found, isCompiled } = await askValid({
      text: `{ echo(must: ${must}, text: ${must}, ids: [${must}], filter: { text: ${must}, must: 1 }) }`,
    });
    expect(isCompiled).toBe(true);
    expect(found.data).toMatchObject({ echo: { must: text, ids: [text], filter: { text } } });
    expect(globalThis).not.toHaveProperty('wasRun');
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', 'run', 'NOT_WHOLE'])(
    'may be called %s',
    async (name) => {
      const { found, isCompiled } = await askValid({
        text: `query ${name}($${name}: ID!) {
          ${name}: echo(must: $${name}) ...${name} x: nodeMustRead { ...b }
        }
        fragment ${name} on Query { other: echo(must: $${name}) }
        fragment b on Node { ${name}: __typename }`,
        variables: JSON.parse(`{"${name}":"given"}`),
      });
      expect(isCompiled).toBe(true);
      expect(JSON.stringify(found.data)).toContain(`{"${name}":{"must":"given"`);
      expect(JSON.stringify(found.data)).toContain(`{"${name}":"Node"}`);
    },
  );
});

describe('conditions', () => {
  const shared = `
    query One($yes: Boolean!) { nodeMustRead { ...F @include(if: $yes) id } }
    query Two { nodeMustRead { ...F id } }
    fragment F on Node { text }`;

  test.each([
    ['One', { yes: true }, ['text', 'id']],
    ['One', { yes: false }, ['id']],
    ['Two', {}, ['text', 'id']],
  ])(
    'of one operation leave the others alone: %s with %j',
    async (operationName, variables, keys) => {
      const { found, isCompiled } = await askValid({ text: shared, operationName, variables });
      expect(isCompiled).toBe(true);
      expect(Object.keys(Object(found.data?.nodeMustRead))).toEqual(keys);
    },
  );

  test('decide the order of the keys', async () => {
    const text = `query ($skip: Boolean!) {
      nodeMustRead { id @skip(if: $skip) text id ...F @skip(if: $skip) flag ...F }
    }
    fragment F on Node { count }`;
    for (const skip of [true, false]) {
      const args = argsOf({ text, variables: { skip } }) as ValidatedExecutionArgs;
      const compiled = compiledFrom(args.document, undefined, new CompiledCodeCache());
      const expected = shown(await executeRootSelectionSet(args));
      for (let i = 0; i < 4; i += 1)
        expect(shown(await compiled.execute(args, meterFor()))).toBe(expected);
      const keys = skip ? ['text', 'id', 'flag', 'count'] : ['id', 'text', 'count', 'flag'];
      const { data } = await executeRootSelectionSet(args);
      expect(Object.keys(Object(data?.nodeMustRead))).toEqual(keys);
    }
  });
});

test.each([
  ['an error', new Error('given'), true],
  ['a text', 'given', false],
])(
  '%s in place of an object is what it is to the reference executor',
  async (_what, rootValue, isRefused) => {
    const { found } = await askValid({ text: 'subscription { node { length } }', rootValue });
    expect(found.errors !== undefined).toBe(isRefused);
  },
);

test('each alias has its own arguments, defaults and enum values', async () => {
  const { found, isCompiled } = await askValid({
    text: `query ($side: Side = SELL, $left: Int, $null: Int) {
      a: echo(must: 1) b: echo(must: "2", side: BUY, count: null)
      c: echo(must: 3, side: $side, sides: [$side, NONE], count: $left)
      d: echo(must: 4, count: $null, filter: { must: 2, deep: { must: 3, side: $side } })
    }`,
    variables: { null: null },
  });
  expect(isCompiled).toBe(true);
  expect(found.data).toEqual({
    a: { must: '1', count: 5, sides: ['b', 'NONE'] },
    b: { must: '2', side: 'b', count: null, sides: ['b', 'NONE'] },
    c: { must: '3', side: 2, sides: [2, 'NONE'], count: 5 },
    d: {
      must: '4',
      count: null,
      sides: ['b', 'NONE'],
      filter: { must: 2, side: 'b', deep: { must: 3, side: 2 } },
    },
  });
});

describe('a document', () => {
  test('that is very large is not, however often it comes', async () => {
    const many = Array.from({ length: 1_200 }, (_, i) => `a${i}: id`).join(' ');
    const { isCompiled } = await askValid({ text: `{ nodeMustRead { ${many} } }` });
    expect(isCompiled).toBe(false);
  });

  test('is compiled for so many of its combinations of conditions only', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const head = names.map((name) => `$${name}: Boolean!`).join(', ');
    const fields = names.map((name) => `${name}: id @include(if: $${name})`).join(' ');
    const args = (bits: number) => {
      const variables = Object.fromEntries(names.map((name, at) => [name, (bits & (1 << at)) > 0]));
      return argsOf({ text: `query (${head}) { nodeMustRead { ${fields} } }`, variables });
    };
    const codeCache = new CompiledCodeCache();
    const compiled = compiledFrom(
      (args(0) as ValidatedExecutionArgs).document,
      undefined,
      codeCache,
    );
    compiled.compile();
    for (let bits = 0; bits < 128; bits += 1) {
      const validated = args(bits) as ValidatedExecutionArgs;
      expect(shown(await compiled.execute(validated, meterFor()))).toBe(
        shown(await executeRootSelectionSet(validated)),
      );
    }
    // The first sixteen have none to all of four of the fields, beside the root's own; each counts one more.
    expect(codeCache.calculatedSize).toBe(16 * 2 + 16 * 2);
  });

  test('that is large turns off the compiler that would take most memory for it, once', async () => {
    const given: string[] = [];
    const { setFlagsFromString } = v8;
    v8.setFlagsFromString = (flag) => void given.push(flag);
    syncBuiltinESMExports();
    try {
      const askFor = (fields: number) => {
        const many = Array.from({ length: fields }, (_, at) => `a${at}: id`).join(' ');
        return askValid({ text: `{ nodeMustRead { ${many} } }` });
      };
      await askFor(149);
      expect(given).toEqual([]);
      for (const fields of [150, 150]) await askFor(fields);
      expect(given).toEqual(['--no-maglev']);
    } finally {
      v8.setFlagsFromString = setFlagsFromString;
      syncBuiltinESMExports();
    }
  });
});
