import { parse, validate } from 'graphql';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { EXAMPLES } from '../../../graphiql/page/examples.js';
import { buildSchema } from '../../../src/schema/schema.ts';
import { runSnippet } from '../../support/run-snippet.ts';
import { sharedApp } from '../../support/shared-app.ts';

interface Shown {
  readonly document: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly kind: 'query' | 'mutation' | 'subscription';
}

// The browser runs them as they are: JavaScript.
const PAGE = '../../../graphiql/page';
const { snippetsOf } = (await import(`${PAGE}/snippets.js`)) as {
  snippetsOf(shown: Shown, endpoint: string): readonly { title: string; code: string }[];
};
const { linkTo } = (await import(`${PAGE}/share.js`)) as {
  linkTo(query: string, page: string): string;
};

const TITLES = ['curl', 'fetch', 'trading-graph-client', 'Apollo Client', 'urql'];

describe('an operation as code', () => {
  const app = sharedApp({ POSITIONS_POLL_MS: '200' });
  let token: string;
  beforeAll(async () => {
    token = await app.signIn();
  });

  const codeOf = (title: string, shown: Shown) => {
    const code = snippetsOf(shown, `${app.url}/graphql`).find((one) => one.title === title)?.code;
    if (code === undefined) throw new Error(`there is no ${title}`);
    return code;
  };
  const run = (title: string, code: string, awaited: string) =>
    runSnippet(title, code.replaceAll('$TOKEN', token), awaited);

  test.each(TITLES)('%s runs a query with variables when it is pasted', async (title) => {
    const document = `query Q($text: String!) {
  # it's a comment with \`backticks\`, \${braces} and a \\
  instruments(first: 1, filter: { search: $text }) { totalCount nodes { id } }
}`;
    const variables = { text: `it's "apple" \\ $HOME` };
    const code = codeOf(title, { document, variables, kind: 'query' });
    expect(code).toContain('Bearer $TOKEN'.slice(title === 'trading-graph-client' ? 7 : 0));
    expect(code).not.toContain('eyJ');
    expect(await run(title, code, 'totalCount')).toMatch(/totalCount"?: ?0/);
  });

  test.each(TITLES)('%s follows a subscription', async (title) => {
    const document = 'subscription { positionChanges { snapshot status } }';
    const code = codeOf(title, { document, kind: 'subscription' });
    expect(await run(title, code, 'LIVE')).toContain('LIVE');
  });

  test.each(TITLES)(
    '%s tells why an order is refused, whichever type the fields are of',
    async (title) => {
      const document = `mutation Place($input: PlaceOrderInput!) {
  placeOrder(input: $input) { __typename ... on OrderOutcome { idempotencyKey } ... on Refusal { error message } }
}`;
      const order = { symbol: 'TEST.REJECT', side: 'BUY', kind: 'MARKET', size: { units: 1 } };
      const input = { ...order, idempotencyKey: title };
      const code = codeOf(title, { document, variables: { input }, kind: 'mutation' });
      const output = await run(title, code, 'refuses every order');
      expect(output).toContain('TEST_REJECT');
      expect(output).toContain(`idempotencyKey${title === 'curl' ? '":"' : ": '"}${title}`);
    },
  );

  test.each(TITLES)('%s shows what came beside what failed', async (title) => {
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503 });
    onTestFinished(() => app.sandbox.clearFaults());
    const document = '{ session { equity } customerId }';
    const code = codeOf(title, { document, kind: 'query' });
    const output = await run(title, code, 'no such text');
    expect(output).toMatch(/equity"?: ?[\d.]+/);
    expect(output).toContain('The gateway cannot be reached');
    // Node writes its version below an error that nobody catches.
    expect(output).not.toContain('Node.js v');
  });
});

describe('an operation as code for phones', () => {
  const NATIVE = ['Apollo Kotlin', 'Apollo iOS'];
  const codesOf = (shown: Shown) => {
    const snippets = snippetsOf(shown, 'https://example.com/graphql');
    return NATIVE.map((title) => snippets.find((one) => one.title === title)?.code ?? '');
  };
  const kindOf = (text: string) =>
    (['mutation', 'subscription'] as const).find((kind) => new RegExp(`^${kind}`, 'm').test(text));

  test.each(EXAMPLES)('has the operation for the generators: example %#', (one) => {
    const { query: document, variables } = one;
    const kind = kindOf(document) ?? 'query';
    for (const code of codesOf({ document, kind, ...(variables && { variables }) })) {
      const [, name = '', text = ''] = /^\/\* (\w+)\.graphql\n([\s\S]*?)\n\*\/\n/.exec(code) ?? [];
      const operation = parse(text);
      expect(validate(buildSchema(), operation)).toEqual([]);
      expect(code).toMatch(new RegExp(`\\b${name}(?:Query|Mutation|Subscription)\\(`));
      expect(code).toContain('Bearer $TOKEN');
    }
  });

  test('gives values as their types are, and leaves open what only a generated type can hold', () => {
    const [kotlin, swift] = codesOf({
      document:
        'query findQuery($id: ID!, $least: Float, $after: String, $of: Filter!, $no: Int) { a }',
      variables: { id: 'a"$b', least: 2, after: null, of: { x: 1 } },
      kind: 'query',
    });
    expect(kotlin).toContain(
      'client.query(FindQuery(id = "a\\"\\$b", least = Optional.present(2.0), after = Optional.present(null), of = TODO("Filter!"))).toFlow()',
    );
    expect(swift).toContain(
      'client.fetch(query: Api.FindQuery(id: "a\\"$b", least: 2.0, after: .null, of: <#Filter!#>, no: nil))',
    );
  });
});

describe('a link to share', () => {
  const sharedOf = (query: string) => {
    const { origin, pathname, hash, search } = new URL(linkTo(query, 'http://example.com/graphql'));
    expect(`${origin}${pathname}${search}`).toBe('http://example.com/graphql');
    const parameters = new URLSearchParams(hash.slice(1));
    expect([...parameters.keys()]).toEqual(['query']);
    return parameters.get('query');
  };

  test.each([
    ['a text', '{ f(a: "secret", b: 1) }', '{ f(a: "", b: 1) }'],
    ['one with escapes', '{ f(a: "se\\"cret\\\\") b }', '{ f(a: "") b }'],
    ['one that is not closed', '{ f(a: "secret\n b }', '{ f(a: ""\n b }'],
    ['a block', '{ f(a: """se"cret\n\\"""secret""") b }', '{ f(a: "") b }'],
    ['a block that is not closed', '{ f(a: """secret\nsecret', '{ f(a: ""'],
    ['a default', 'query Q($a: String = "secret") { f }', 'query Q($a: String = "") { f }'],
    ['a comment', '# secret "\n{ f } # secret', '{ f } '],
    ['a comment before a carriage return', '# secret\r{ f }', '{ f }'],
    ['a comment sign within a text', '{ f(a: "# secret") b }', '{ f(a: "") b }'],
  ])('leaves out %s', (_name, query, shared) => {
    expect(sharedOf(query)).toBe(shared);
  });
});
