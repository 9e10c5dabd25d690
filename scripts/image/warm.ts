// Fills the compile cache of the image: `NODE_COMPILE_CACHE=… node scripts/image/warm.ts <bundle>` runs the program
// with its sandbox, sends it what most clients send, and ends it. Node writes the cache as it exits.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const [program = 'dist/main.js'] = process.argv.slice(2);
const service = spawn(process.execPath, [program], {
  env: {
    ...process.env,
    SANDBOX: 'on',
    PORT: '0',
    ADMIN_PORT: '0',
    ORDER_STORE: 'data/orders.db',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = once(service, 'exit');
try {
  const url = await servingUrl();
  await Promise.all([sendQuery(url), followPositions(url), sendMalformed(url), checkHealth(url)]);
} finally {
  service.kill('SIGTERM');
}
const [code] = await ended;
if (code !== 0) throw new Error(`the program ended with ${code}`);

async function servingUrl(): Promise<string> {
  for await (const line of createInterface({ input: service.stdout })) {
    const { msg, url } = line.startsWith('{') ? JSON.parse(line) : {};
    if (msg === 'serving') return url;
  }
  throw new Error('the program ended before it served');
}

async function sendQuery(url: string): Promise<void> {
  const token = await signIn(url);
  const query = '{ session { id balance } positions { id symbol profit instrument { id name } } }';
  await post(url, { query }, { authorization: `Bearer ${token}` });
}

async function signIn(url: string): Promise<string> {
  const query = `mutation { login(input: { email: "demo@example.com", password: "demo" }) {
    ... on LoginSuccess { accessToken }
  } }`;
  const { login } = (await post(url, { query })) as { login: { accessToken: string } };
  return login.accessToken;
}

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text) as { data?: object; errors?: object };
  if (errors !== undefined || data === undefined) throw new Error(text);
  return data;
}

async function followPositions(url: string): Promise<void> {
  const payload = { authorization: `Bearer ${await signIn(url)}` };
  const query = 'subscription { positionChanges { cursor upserted { id profit } } }';
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message: object) => socket.send(JSON.stringify(message));
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => send({ type: 'connection_init', payload });
    socket.onmessage = ({ data }) => {
      const { type } = JSON.parse(String(data)) as { type: string };
      if (type === 'connection_ack') send({ id: '1', type: 'subscribe', payload: { query } });
      else if (type === 'next') resolve();
    };
    socket.onclose = ({ code }) => reject(new Error(`the socket was closed with ${code}`));
  });
  socket.close();
}

/** Loads the modules that only such requests need. */
async function sendMalformed(url: string): Promise<void> {
  const { status } = await fetch(`${url}/graphql?variables={`);
  if (status !== 400) throw new Error(`a malformed request is answered with ${status}`);
}

async function checkHealth(url: string): Promise<void> {
  await (await fetch(`${url}/health/ready`)).text();
}
