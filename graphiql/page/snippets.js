import { nativeSnippets } from './native-snippets.js';
import { possibleTypes } from './possible-types.js';

/**
 * @typedef {import('./snippets.d.ts').Shown} Shown
 * @typedef {import('./snippets.d.ts').Snippet} Snippet
 */

/**
 * The operation as code that runs once `$TOKEN` is replaced: a token that is shown gets copied, and stays in files.
 *
 * @param {Shown} shown
 * @param {string} endpoint
 * @returns {readonly { title: string, code: string }[]}
 */
export function snippetsOf(shown, endpoint) {
  return [
    { title: 'curl', code: curl(shown, endpoint) },
    { title: 'fetch', code: plainFetch(shown, endpoint) },
    { title: 'trading-graph-client', code: ownClient(shown, endpoint) },
    { title: 'Apollo Client', code: apollo(shown, endpoint) },
    { title: 'urql', code: urql(shown, endpoint) },
    ...nativeSnippets(shown, endpoint),
  ];
}

/** @type {Snippet} */
export function curl({ document, variables, kind }, endpoint) {
  const body = JSON.stringify({ query: document, variables });
  const isStream = kind === 'subscription';
  return `curl ${isStream ? '-N ' : ''}${endpoint} \\
  -H 'content-type: application/json' \\${isStream ? "\n  -H 'accept: text/event-stream' \\" : ''}
  -H "authorization: Bearer $TOKEN" \\
  -d '${body.replaceAll("'", "'\\''")}'`;
}

/** @type {Snippet} */
function plainFetch({ document, variables, kind }, endpoint) {
  const isStream = kind === 'subscription';
  const reading = isStream
    ? `for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  console.log(text);
}`
    : `const { data, errors } = await response.json();
console.log(data, errors);`;
  return `const query = ${inBackticks(document)};${declared(variables)}

const response = await fetch('${endpoint}', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',${isStream ? "\n    accept: 'text/event-stream'," : ''}
    authorization: 'Bearer $TOKEN',
  },
  body: JSON.stringify({ query${variables ? ', variables' : ''} }),
});
${reading}`;
}

/** @type {Snippet} */
function ownClient({ document, variables, kind }, endpoint) {
  const given = variables ? 'variables' : '{}';
  const call =
    kind === 'subscription'
      ? `client.subscribe(document, () => (${given}), {
  next: ({ data, errors }) => console.log(data, errors),
});`
      : `const { data, errors } = await client.${kind === 'mutation' ? 'mutate' : 'query'}(document, ${given});
console.log(data, errors);`;
  return `import { createClient } from 'trading-graph-client';

const client = createClient({ url: '${endpoint}', token: () => '$TOKEN' });
const document = ${inBackticks(document)};${declared(variables)}

${call}`;
}

/** @type {Snippet} */
export function apollo({ document, variables, kind }, endpoint) {
  // Without it an error discards the data of the fields that came.
  const options = `, ${variables ? 'variables, ' : ''}errorPolicy: 'all' `;
  const isStream = kind === 'subscription';
  const packages = isStream
    ? `import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';`
    : `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';`;
  const isDeferred = !isStream && /@defer\b/.test(document);
  const handlerImport = isDeferred
    ? "\nimport { Defer20220824Handler } from '@apollo/client/incremental';"
    : '';
  const handler = isDeferred ? '\n  incrementalHandler: new Defer20220824Handler(),' : '';
  const link = isStream
    ? `new GraphQLWsLink(createClient({
    url: '${endpoint.replace(/^http/, 'ws')}',
    connectionParams: { authorization: 'Bearer $TOKEN' },
  }))`
    : `new HttpLink({
    uri: '${endpoint}',
    headers: { authorization: 'Bearer $TOKEN' },
  })`;
  const call = isStream
    ? `client.subscribe({ query: document${options}}).subscribe(({ data, error }) => console.log(data, error));`
    : `const { data, error } = await client.${kind === 'mutation' ? 'mutate({ mutation' : 'query({ query'}: document${options}});
console.log(data, error);`;
  return `${packages}${handlerImport}

const client = new ApolloClient({
  cache: new InMemoryCache(${cacheOptions(document)}),
  link: ${link},${handler}
});
const document = gql(${inBackticks(document)});${declared(variables)}

${call}`;
}

/**
 * The types of the interfaces and unions that fragments of the document name: Apollo's cache drops the fields of those it does not know.
 *
 * @param {string} document
 */
function cacheOptions(document) {
  const conditions = new Set([...document.matchAll(/\bon\s+(\w+)/g)].map(([, name = '']) => name));
  const rows = Object.entries(possibleTypes)
    .filter(([name]) => conditions.has(name))
    .map(([name, types]) => `\n      ${name}: [${types.map((each) => `'${each}'`).join(', ')}],`);
  return rows.length === 0 ? '' : `{\n    possibleTypes: {${rows.join('')}\n    },\n  }`;
}

/** @type {Snippet} */
function urql({ document, variables, kind }, endpoint) {
  const given = variables ? 'variables' : '{}';
  const isStream = kind === 'subscription';
  const call = isStream
    ? `client.subscription(document, ${given}).subscribe(({ data, error }) => console.log(data, error));`
    : `const { data, error } = await client.${kind}(document, ${given});
console.log(data, error);`;
  return `import { cacheExchange, Client, fetchExchange, gql } from 'urql';

const client = new Client({
  url: '${endpoint}',
  exchanges: [cacheExchange, fetchExchange],${isStream ? '\n  fetchSubscriptions: true,' : ''}
  preferGetMethod: false,
  fetchOptions: { headers: { authorization: 'Bearer $TOKEN' } },
});
const document = gql(${inBackticks(document)});${declared(variables)}

${call}`;
}

/** @param {string} text */
function inBackticks(text) {
  return `\`${text.trim().replaceAll(/[\\`]|\$\{/g, '\\$&')}\``;
}

/**
 * JSON is JavaScript.
 *
 * @param {Shown['variables']} variables
 */
function declared(variables) {
  return variables ? `\nconst variables = ${JSON.stringify(variables, null, 2)};` : '';
}
