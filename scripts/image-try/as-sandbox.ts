import { readdirSync } from 'node:fs';
import type { BuiltImage } from './build.ts';
import { type Container, startContainer } from './container.ts';
import { expect, expectEqual } from './expect.ts';

/** What the README offers for a first look: it serves, as nobody, and writes to its volume alone. */
export async function tryAsSandbox(image: BuiltImage): Promise<void> {
  await using container = await startContainer(image, {
    SANDBOX: 'on',
    // As with a gateway; the sandbox alone would record orders in memory.
    ORDER_STORE: 'data/orders.db',
  });
  await container.serving;
  expect(await container.isHealthy(), 'its own health check passes');
  const [user, group] = image.config.User.split(':');
  const status = container.status();
  expectEqual(status.Uid?.split(/\s+/), Array(4).fill(user), `it runs as user ${user}`);
  expectEqual(status.Gid?.split(/\s+/), Array(4).fill(group), `it runs as group ${group}`);
  expect(status.CapEff === '0000000000000000', 'it has no capability');
  expect(status.NoNewPrivs === '1', 'it can gain no privilege');

  const ready = (await (await fetch(`${container.adminUrl}/health/ready`)).json()) as {
    revision?: string;
  };
  expect(ready.revision === image.revision, 'readiness names the revision');
  const metrics = await (await fetch(`${container.adminUrl}/metrics`)).text();
  const version = image.config.Labels['org.opencontainers.image.version'];
  const build = `trading_graph_build_info{version="${version}",revision="${image.revision}"`;
  expect(metrics.includes(build), 'its metrics name the version and the revision');
  await tryPages(container);

  expect(container.hasReadOnlyRoot(), 'it needs no more than a read-only root');
  expectEqual(container.namesIn('/tmp'), [], 'it leaves nothing in /tmp');
  expect((await container.stop()) === 0, 'it ends by SIGTERM with 0');
  expect(!(await container.isHealthy()), 'its health check fails once it has ended');
  expect(
    readdirSync(container.volume).some((name) => name.startsWith('orders.db')),
    'its records are in the volume',
  );
}

async function tryPages({ url, output }: Container): Promise<void> {
  const query =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  expect((await answer.text()).includes('LoginSuccess'), 'its sandbox answers');
  // Whatever it tells a person at a console to open has to be there.
  const offered = output.flatMap((line) => /^ {2}\w+ +(http\S+)/.exec(line)?.[1] ?? []);
  expect(offered.length > 0, 'it says what to open');
  for (const address of offered) {
    const page = await fetch(address, { headers: { accept: 'text/html' } });
    expect(page.ok, `${address}, which it offers, is there`);
  }
}
