import { createClient } from 'trading-graph-client';
import WebSocket from 'ws';
import { sqliteStorage } from './sqlite-storage.mjs';

const { argv, env } = process;
const input = { email: 'demo@example.com', password: 'demo' };
const SIGN_IN =
  'mutation ($input: LoginInput!) { login(input: $input) { ... on LoginSuccess { accessToken } } }';
let token = null;

const client = createClient({
  url: env.TRADING_GRAPH_URL ?? 'http://127.0.0.1:4000/graphql',
  async token({ force }) {
    if (force || token === null) token = await signIn();
    return token;
  },
  // Keys of orders outlive the program, so that `client.orders.resume()` finds their outcomes.
  storage: sqliteStorage('orders.db'),
  // Node 22 and later have their own WebSocket. The program has one user, unlike a server.
  environment: { WebSocket, isServer: false },
});

async function signIn() {
  const { data, errors } = await client.mutate(SIGN_IN, { input }, { anonymous: true });
  if (errors[0]) throw errors[0];
  return data.login.accessToken ?? null;
}

client.account(({ status, asOf, positions, session }) => {
  const profits = (positions ?? []).map(({ symbol, profit }) => `${symbol} ${profit?.toFixed(2)}`);
  console.log(status, asOf?.toISOString() ?? '', session?.balance ?? '', profits.join(' '));
});

if (argv.includes('buy')) {
  const order = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } };
  const outcome = await client.orders.ticket().place(order);
  console.log('order', outcome.status);
}

process.once('SIGINT', () => client.dispose());
