import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { failedStart } from '../../support/failed-start.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { seriesValue } from '../operations/scraped.ts';

const folder = ownFolder();

async function fileOf(text: string, name = 'graph.mjs', within = ''): Promise<string> {
  const path = join(folder.path, within, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

/** A field of the root by this name. */
const field = (name: string, root = 'query') =>
  `({ builder }) => builder.${root}Field('${name}', (t) => t.string({ description: 'x', resolve: () => 'x' }))`;

test.each([
  ['is missing', null, `there is no file ${resolve('no-such-graph.mjs')}`],
  ['throws', "throw new Error('no licence');", 'no licence, in PATH:1'],
  ['exports no function', 'export default {};', 'its default export is no function, in PATH'],
  [
    'gives every object a property',
    'Object.prototype.last = 1; export default () => {};',
    'it gives every object a property last, in PATH',
  ],
  [
    'fails later',
    "export default async () => {\n throw new Error('no key');\n};",
    'no key, in PATH:2',
  ],
  [
    'imports what is missing',
    "import './other.mjs';",
    /^Cannot find module '.*other\.mjs' imported from PATH, in PATH$/,
  ],
  [
    'uses a taken name of a backend',
    "export default ({ backend }) =>\n backend({ name: 'orders', url: 'http://x', reads: {} });",
    'the backend orders is there already, in PATH:2',
  ],
  [
    'is for another version of the kit',
    'export const kitVersion = 2; export default () => {};',
    'it is for version 2 of the kit, and this is 1, in PATH',
  ],
  [
    'has a field that is there',
    `export default ${field('session')};`,
    'Duplicate field session on Query',
  ],
  [
    'has a name that is GraphQL’s own',
    `export default ${field('__mine')};`,
    'Name "__mine" must not begin with "__"',
  ],
  [
    'implements a type that is there',
    'export default ({ refs }) => refs.Position.implement({ fields: () => ({}) });',
    'the type Position is there already',
  ],
  [
    'has a type without fields',
    "export default ({ builder }) => builder.objectRef('Empty').implement({ fields: () => ({}) });",
    'Type Empty must define one or more fields.',
  ],
  [
    'adds a subscription',
    `export default ${field('ticks', 'subscription')};`,
    'Subscription.ticks',
  ],
  [
    'shares a field that is the account’s',
    "export default ({ builder, refs, shared }) => builder.objectField(refs.Position, 'a', (t) => t.string({ ...shared({ seconds: 1 }), description: 'x', resolve: () => 'x' }));",
    'Position.a: only fields of Query and Instrument can be shared',
  ],
  [
    'sizes a list by an argument that is not there',
    "export default ({ builder, listSize }) => builder.queryField('a', (t) => t.stringList({ ...listSize({ argument: 'limit', most: 5 }), description: 'x', resolve: () => [] }));",
    'Query.a: listSize names an argument limit that the field does not have',
  ],
  [
    'has a mutation whose null takes along the others’',
    "export default ({ builder }) => builder.mutationField('a', (t) => t.string({ nullable: false, description: 'x', resolve: () => 'x' }));",
    'Mutation.a: it must be nullable, or its failure hides what is beside it',
  ],
  [
    'has a default that no introspection could show',
    "export default ({ builder }) => builder.queryField('a', (t) => t.string({ args: { by: t.arg({ type: 'JSON', defaultValue: { a: 1 } }) }, resolve: () => 'x' }));",
    'Cannot convert value to AST: { a: 1 }., in PATH',
  ],
  [
    'has a field whose null takes an outcome along',
    "export default ({ builder }) => builder.objectField('OrderAccepted', 'a', (t) => t.string({ nullable: false, description: 'x', resolve: () => 'x' }));",
    'OrderAccepted.a: it must be nullable',
  ],
  [
    'has a field whose null takes the list of positions along',
    "export default ({ builder, refs }) => builder.objectField(refs.Position, 'a', (t) => t.string({ nullable: false, description: 'x', resolve: () => 'x' }));",
    'Position.a: it must be nullable',
  ],
  [
    'names as moving what no field of its rows shows',
    `export default ({ builder, live }) => {
      const Row = builder.objectRef('Row').implement({ fields: (t) => ({ key: t.exposeID('id'), price: t.exposeFloat('price') }) });
      live({ name: 'rows', type: Row, key: ({ id }) => id, everyMs: 100, moving: ['price', 'nope'], read: () => [] });
    };`,
    'moving of the live list rows must be of what Row exposes, id, price (it has nope), in PATH',
  ],
])('a file that %s stops the start by its name', async (_what, text, reason) => {
  // A relative path is one of the working directory.
  const path = text === null ? './no-such-graph.mjs' : await fileOf(text);
  const { code, problems } = await failedStart({ EXTENSIONS: path, PORT: '0' });
  expect(code).toBe(1);
  const [, problem = ''] = problems;
  const [cause = '', allowed] = problem.split(' (must be ');
  expect(allowed).toBe('files whose default exports are functions of the kit)');
  const [, said = ''] = /^EXTENSIONS="\S+": (.*)$/.exec(cause.replaceAll(path, 'PATH')) ?? [];
  expect(said).toMatch(reason);
  expect(problems).toHaveLength(2);
});

test('a name of a subgraph’s own stops the start of a subgraph by the file', async () => {
  const path = await fileOf(`export default ${field('_service')};`);
  const { problems } = await failedStart({ EXTENSIONS: path, FEDERATION: 'on' });
  const reason = 'Field "Query._service" already exists in the schema.';
  expect(problems[1]).toContain(`EXTENSIONS="${path}": ${reason}`);
  expect(problems).toHaveLength(2);
});

test('a file that cannot be parsed is named with its line, whichever imports it', async () => {
  const broken = await fileOf('\nenum Side { buy }', 'broken.ts');
  const path = await fileOf("import './broken.ts'; export default () => {};");
  for (const file of [broken, path]) {
    const { problems } = await failedStart({ EXTENSIONS: file });
    expect(problems[1]).toContain(
      `: TypeScript enum is not supported in strip-only mode, in ${broken}:2`,
    );
  }
});

test('a folder of CommonJS has extensions of ES modules, of TypeScript and of CommonJS, whose faults have their lines', async () => {
  await fileOf('{ "type": "commonjs" }', 'package.json');
  await fileOf("export const name: string = 'second';", 'name.ts');
  const second = `import { name } from './name.ts';\nexport default ({ builder }: { builder: any }) =>\n  builder.queryField(name, (t: any) => t.string({ resolve: () => 'x' }));`;
  const files = await Promise.all([
    fileOf(`export default ${field('first')};`, 'first.js'),
    fileOf(second, 'second.ts'),
    fileOf(`module.exports = ${field('third')};`, 'third.js'),
    fileOf(`exports.__esModule = true; exports.default = ${field('fourth')};`, 'fourth.js'),
  ]);
  await using sandbox = await startSandbox({ tickMs: 0 });
  const environment = { GATEWAY_URL: sandbox.url, EXTENSIONS: files.join() };
  await using facade = await startFacadeProcess(environment);
  const { data } = await facade.query('{ first second third fourth }');
  expect(data).toEqual({ first: 'x', second: 'x', third: 'x', fourth: 'x' });
  const faulty = await fileOf(
    "module.exports = () => {\n  throw new Error('no key');\n};",
    'faulty.js',
  );
  const { problems } = await failedStart({ EXTENSIONS: faulty });
  expect(problems[1]).toContain(`: no key, in ${faulty}:2 (`);
});

test('files of one name in two folders are told apart, and a name of every object is one like others', async () => {
  const files = await Promise.all(
    ['one', 'two'].map((team) =>
      fileOf(
        `export default ({ builder, backend, live }) => {
          const service = backend({ name: '${team === 'one' ? 'constructor' : team}', url: 'http://127.0.0.1:1', retries: false, reads: { rows: '/' } });
          const Row = builder.objectRef('${team}').implement({ fields: (t) => ({ id: t.exposeID('id') }) });
          live({ name: '${team}Rows', type: Row, key: ({ id }) => id, everyMs: 100, of: 'everybody', backend: service,
            args: builder.args((t) => ({ constructor: t.string() })),
            read: async (context, { constructor }) => constructor === 'own' ? [{ id: constructor }] : service.read(context, 'rows') });
          builder.queryField('${team}', (t) => t.string({ resolve: () => void setTimeout(() => { throw new Error('planted'); }) }));
        };`,
        'graph.mjs',
        team,
      ),
    ),
  );
  await using sandbox = await startSandbox({ tickMs: 0 });
  const environment = { GATEWAY_URL: sandbox.url, EXTENSIONS: files.join() };
  await using facade = await startFacadeProcess(environment);
  const document = '{ one two oneRows(constructor: "own") { id } twoRows { id } }';
  const { data, errors } = await facade.query(document);
  expect(data).toMatchObject({ oneRows: [{ id: 'own' }], twoRows: null });
  expect(errors).toMatchObject([
    { path: ['twoRows'], extensions: { code: 'GATEWAY_UNAVAILABLE', operation: 'two.rows' } },
  ]);
  await eventually(async () => {
    for (const name of ['one/graph', 'two/graph']) {
      const faults = `extension_faults_total{extension="${name}",kind="exception"}`;
      expect(await seriesValue(facade, faults)).toBe(1);
    }
  });
});

test('files whose folders have one name as well stop the start by both paths', async () => {
  const [one, other] = await Promise.all([
    fileOf(`export default ${field('one')};`, 'graph.mjs', 'a/team'),
    fileOf(`export default ${field('other')};`, 'graph.mjs', 'b/team'),
  ]);
  const { code, problems } = await failedStart({ EXTENSIONS: [one, other].join() });
  expect(code).toBe(1);
  expect(problems[1]).toContain(`"${other}": ${one} and ${other} have one name, team/graph (`);
});

test('a start that fails for another setting says nothing of an extension that is loaded', async () => {
  const { problems } = await failedStart({
    EXTENSIONS: await fileOf(`export default ${field('one')};`),
    PERSISTED_DOCUMENTS: '/none.json',
  });
  expect(problems).toEqual([
    'The configuration is wrong:',
    expect.stringContaining('PERSISTED_DOCUMENTS="/none.json": must be '),
  ]);
});

test('what adds to the schema once the file is loaded is refused with words for its author', async () => {
  const path = await fileOf(`export default ({ builder, backend, live, error }) => {
    const Row = builder.objectRef('Row').implement({ fields: (t) => ({ id: t.exposeID('id') }) });
    const Other = builder.objectRef('Other');
    const calls = {
      live: () => live({ name: 'rows', type: Row, key: ({ id }) => id, everyMs: 100, read: () => [] }),
      backend: () => backend({ name: 'late', url: 'http://127.0.0.1:1', reads: {} }),
      error: () => error('LATE', { retryable: false, outcome: 'fault', advice: 'x' }),
      'builder.queryField': () => builder.queryField('late', (t) => t.string({ resolve: () => 'x' })),
      'builder.objectType': () => Other.implement({ fields: (t) => ({ id: t.exposeID('id') }) }),
    };
    builder.queryField('call', (t) =>
      t.string({ args: { name: t.arg.string() }, resolve: (_root, { name }) => calls[name]() }));
  };`);
  await using sandbox = await startSandbox({ tickMs: 0 });
  await using facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url, EXTENSIONS: path });
  for (const name of ['live', 'backend', 'error', 'builder.queryField', 'builder.objectType']) {
    const { data, errors } = await facade.query(`{ call(name: "${name}") }`);
    expect([data, errors.length]).toEqual([{ call: null }, 1]);
    const words = `${name}(…) came after the file had been loaded`;
    await eventually(() => facade.logged.some((line) => line.includes(words)));
  }
});

test('the fields of several files are the viewer’s own, whatever they say of themselves, and shared ones see no viewer', async () => {
  const marked = await fileOf(
    `let calls = 0;
    export default ({ builder, refs, shared }) => {
      builder.objectField(refs.Instrument, 'counted', (t) =>
        t.int({ description: 'x', nullable: true, extensions: { sharing: 'group' }, resolve: () => (calls += 1) }));
      builder.queryField('who', (t) =>
        t.string({ ...shared({ seconds: 60 }), description: 'x', nullable: true,
          resolve: async (_root, _args, context) => (await context.proved()).login }));
      builder.queryField('seen', (t) =>
        t.string({ description: 'x', nullable: true,
          resolve: (_root, _args, context) => Object.keys(context).join() + typeof context.services + typeof context.scope }));
    };`,
  );
  const second = await fileOf(`export default ${field('second')};`, 'second.mjs');
  await using sandbox = await startSandbox({ tickMs: 0 });
  const both = `${marked}, ${second}`;
  await using facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url, EXTENSIONS: both });
  const token = sandbox.token({ email: 'demo@example.com' });
  const ask = (document: string) => facade.query(document, { token });
  for (const counted of [1, 2]) {
    const { data } = await ask('{ instrument(id: "AAPL") { counted } second }');
    expect(data).toEqual({ instrument: { counted }, second: 'x' });
  }
  const document = '{ instrument(id: "AAPL") { counted } }';
  const response = await fetch(`${facade.url}/graphql?query=${encodeURIComponent(document)}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.headers.get('cache-control')).toBe('no-store');
  const { errors } = await ask('{ who }');
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(['INTERNAL']);
  expect((await ask('{ seen }')).data).toEqual({ seen: 'undefinedundefined' });
});
