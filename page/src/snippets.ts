import { apollo, curl } from '../../graphiql/page/snippets.js';

/** An operation of a panel, and how a front end has it done. */
export interface Example {
  /** The text that every GraphQL client takes. */
  readonly document: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** With this project's client. */
  readonly client: string;
}

export interface Snippet {
  readonly title: string;
  readonly code: string;
}

/** The operation, and the same as code that runs when it is pasted: with the endpoint and the token of now. */
export function snippetsOf(example: Example, endpoint: string, token: string): readonly Snippet[] {
  const { document, variables } = example;
  const kind = (['mutation', 'subscription'] as const).find((each) => document.startsWith(each));
  const shown = { document, variables, kind: kind ?? ('query' as const) };
  const onOneLine = { ...shown, document: document.replace(/\s+/g, ' ') };
  const withToken = (code: string) => code.replaceAll('$TOKEN', () => token);
  // In an app each order has a key of its own, made where the code runs.
  const withKeys = (code: string) =>
    code.replace(/("?idempotencyKey"?: )["'][^"']*["']/, '$1crypto.randomUUID()');
  return [
    { title: 'Operation', code: operation(example) },
    { title: 'curl', code: withToken(curl(onOneLine, endpoint)) },
    { title: 'Client', code: ownClient(example, endpoint, token) },
    { title: 'Apollo Client', code: withKeys(withToken(apollo(shown, endpoint))) },
  ];
}

/** The address of GraphiQL with this user, and with this operation in its first tab. */
export function graphiqlLink(user: string, { document, variables }: Example): string {
  const search = new URLSearchParams({ user, query: document });
  if (variables) search.set('variables', JSON.stringify(variables, null, 2));
  return `graphql?${search}`;
}

function operation({ document, variables }: Example): string {
  if (variables === undefined) return document;
  return `${document}\n\n# variables\n${JSON.stringify(variables, null, 2)}`;
}

function ownClient({ client }: Example, endpoint: string, token: string): string {
  return `import { createClient } from 'trading-graph-client';

const client = createClient({
  url: '${endpoint}',
  token: () => '${token}',
});

${client}`;
}
