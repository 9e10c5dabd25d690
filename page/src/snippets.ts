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
  return [
    { title: 'Operation', code: operation(example) },
    { title: 'curl', code: curl(example, endpoint, token) },
    { title: 'Client', code: ownClient(example, endpoint, token) },
    { title: 'Apollo Client', code: apollo(example, endpoint, token) },
  ];
}

/** The address of GraphiQL with this operation in its first tab. */
export function graphiqlLink({ document, variables }: Example): string {
  const search = new URLSearchParams({ query: document });
  if (variables) search.set('variables', JSON.stringify(variables, null, 2));
  return `/graphql?${search}`;
}

function operation({ document, variables }: Example): string {
  if (variables === undefined) return document;
  return `${document}\n\n# variables\n${JSON.stringify(variables, null, 2)}`;
}

function curl({ document, variables }: Example, endpoint: string, token: string): string {
  const body = JSON.stringify({ query: document.replace(/\s+/g, ' '), variables });
  const isStream = document.startsWith('subscription');
  return `curl ${isStream ? '-N ' : ''}${endpoint} \\
  -H 'content-type: application/json' \\${isStream ? "\n  -H 'accept: text/event-stream' \\" : ''}
  -H 'authorization: Bearer ${token}' \\
  -d '${body.replaceAll("'", "'\\''")}'`;
}

function ownClient({ client }: Example, endpoint: string, token: string): string {
  return `import { createClient } from 'trading-graph-client';

const client = createClient({
  url: '${endpoint}',
  token: () => '${token}',
});

${client}`;
}

function apollo({ document, variables }: Example, endpoint: string, token: string): string {
  const options = variables === undefined ? '' : `, variables: ${inCode(variables)}`;
  const gql = `gql\`${document}\``;
  if (document.startsWith('subscription')) {
    return `import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';

const apollo = new ApolloClient({
  cache: new InMemoryCache(),
  link: new GraphQLWsLink(createClient({
    url: '${endpoint.replace(/^http/, 'ws')}',
    connectionParams: { authorization: 'Bearer ${token}' },
  })),
});

apollo.subscribe({ query: ${gql}${options} })
  .subscribe(({ data }) => console.log(data));`;
  }
  const [verb, key] = document.startsWith('mutation') ? ['mutate', 'mutation'] : ['query', 'query'];
  return `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';

const apollo = new ApolloClient({
  cache: new InMemoryCache(),
  link: new HttpLink({
    uri: '${endpoint}',
    headers: { authorization: 'Bearer ${token}' },
  }),
});

const { data } = await apollo.${verb}({ ${key}: ${gql}${options} });`;
}

function inCode(value: unknown): string {
  return JSON.stringify(value)
    .replace(/"(\w+)":/g, ' $1: ')
    .replaceAll('"', "'")
    .replaceAll('}', ' }');
}
