import { createServer } from 'node:http';
import { listenLocally } from '../local-server.ts';

const PATIENCE_MS = 2_000;

export interface FrontProbe extends AsyncDisposable {
  /** Host and port, for Prometheus. */
  readonly address: string;
}

/** Says at each scrape whether the front door opened when it was last asked: in place of blackbox_exporter. */
export async function startFrontProbe(url: string): Promise<FrontProbe> {
  let isOpen = true;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    isOpen = await fetch(`${url}/health/ready`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
    isAsking = false;
  };
  const server = createServer((_request, response) => {
    // At once: a busy machine must not make the scrape itself too late, which would count as a closed door.
    response.end(`probe_success ${isOpen ? 1 : 0}\n`);
    if (!isAsking) void ask();
  });
  const { port, ...listener } = await listenLocally(server);
  return { ...listener, address: `127.0.0.1:${port}` };
}
