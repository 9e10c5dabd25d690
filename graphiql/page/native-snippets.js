/** @typedef {import('./snippets.d.ts').Shown} Shown */

const NAMED = /^[^#\n]*?\b(?:query|mutation|subscription)\s+(\w+)/m;
const UNNAMED = /^(?:query|mutation|subscription)?\s*(?=[({@])/m;
const DECLARED = /\$(\w+)\s*:\s*([\w[\]]+!?)/g;
const SCALAR = /^(?:Boolean|Float|ID|Int|String)!?$/;
const PERFORMS = { query: 'fetch', mutation: 'perform', subscription: 'subscribe' };

/**
 * The operation for Apollo Kotlin 5 and Apollo iOS 2, which generate a class of it. A value of a generated type is left open.
 *
 * @param {Shown} shown
 * @param {string} endpoint
 */
export function nativeSnippets({ document, variables = {}, kind }, endpoint) {
  const name = NAMED.exec(document)?.[1] ?? 'Unnamed';
  const suffix = kind[0]?.toUpperCase() + kind.slice(1);
  const type = name[0]?.toUpperCase() + name.slice(1) + (name.endsWith(suffix) ? '' : suffix);
  const all = [...document.matchAll(DECLARED)].map(([, each = '', of = '']) => {
    const value = variables[each];
    const isLeftOut = value === undefined && !of.endsWith('!');
    const isWhole = of.startsWith('Float') && Number.isInteger(value);
    const literal = isWhole ? `${value}.0` : JSON.stringify(value);
    return { each, of, isLeftOut, literal: SCALAR.test(of) ? literal : null };
  });
  const given = all.filter(({ isLeftOut }) => !isLeftOut);
  const kotlin = given.map(({ each, of, literal }) => {
    const value = literal?.replaceAll('$', '\\$') ?? `TODO("${of}")`;
    return `${each} = ${of.endsWith('!') ? value : `Optional.present(${value})`}`;
  });
  const swift = all.map(({ each, of, isLeftOut, literal }) => {
    if (isLeftOut) return `${each}: nil`;
    return `${each}: ${literal === 'null' ? '.null' : (literal ?? `<#${of}#>`)}`;
  });
  const isStream = kind === 'subscription';
  const transport = `HttpNetworkTransport.Builder().serverUrl("${endpoint}").build()`;
  const call = `client.${PERFORMS[kind]}(${kind}: Api.${type}(${swift.join(', ')}))`;
  // The generators read it from a file of its own, and need a name.
  const text = NAMED.test(document) ? document : document.replace(UNNAMED, `${kind} ${name} `);
  const file = `/* ${name}.graphql\n${text.trim().replaceAll('*/', '* /')}\n*/\n\n`;
  return [
    {
      title: 'Apollo Kotlin',
      code: `${file}import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.api.Optional
import com.apollographql.apollo.network.http.HttpNetworkTransport

suspend fun main() {
  val client = ApolloClient.Builder()
    .serverUrl("${endpoint}")${isStream ? `\n    .subscriptionNetworkTransport(${transport})` : ''}
    .addHttpHeader("authorization", "Bearer $TOKEN")
    .build()
  client.${kind}(${type}(${kotlin.join(', ')})).toFlow().collect {
    println("\${it.data} \${it.errors} \${it.exception}")
  }
}`,
    },
    {
      title: 'Apollo iOS',
      code: `${file}import Api
import Apollo${isStream ? '\nimport ApolloWebSocket' : ''}
import Foundation

let store = ApolloStore()
let token = ["authorization": "Bearer $TOKEN"]
let transport = ${isStream ? 'WebSocketTransport' : 'RequestChainNetworkTransport'}(
  urlSession: URLSession.shared,${isStream ? '' : '\n  interceptorProvider: DefaultInterceptorProvider.shared,'}
  store: store,
  endpointURL: URL(string: "${isStream ? endpoint.replace(/^http/, 'ws') : endpoint}")!,
  ${isStream ? 'configuration: .init(connectingPayload: token)' : 'additionalHeaders: token'}
)
let client = ApolloClient(networkTransport: transport, store: store)
${isStream ? `for try await response in try ${call} {` : `let response = try await ${call}`}
${isStream ? '  ' : ''}print(response.data as Any, response.errors ?? [])${isStream ? '\n}' : ''}`,
    },
  ];
}
