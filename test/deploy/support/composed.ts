import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { freePort, freePorts } from '../../support/free-ports.ts';
import { startTestRedis } from '../../support/redis.ts';
import { startHaproxy } from '../../support/replicas.ts';
import { imageEnvironment, replicas, serviceNamed } from './compose-file.ts';
import { deployFolder, root } from './files.ts';

export interface Composed extends AsyncDisposable {
  readonly url: string;
  readonly gatewayUrl: string;
  readonly replicas: readonly FacadeProcess[];
}

/** What the compose file starts, without containers: each service's command and environment on ports of this machine. */
export async function startComposed(
  haproxyPath: string,
  redisServerPath: string,
): Promise<Composed> {
  await using started = new AsyncDisposableStack();
  const valkey = started.use(
    await startTestRedis(redisServerPath, { args: serviceNamed('valkey').command?.slice(1) ?? [] }),
  );
  const gateway = started.use(await startGateway());
  const here: Record<string, string> = {
    'gateway:4010': new URL(gateway.url).host,
    'redis://valkey:6379': valkey.url,
    [proxyAddress()]: '127.0.0.1',
  };
  const local = (environment: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        Object.entries(here).reduce((text, [from, to]) => text.replaceAll(from, to), value),
      ]),
    );
  const processes = await Promise.all(
    replicas.map(async ([name, { environment }]) => {
      const [port, adminPort] = await freePorts(2);
      here[`${name}:4000`] = `127.0.0.1:${port}`;
      return started.use(
        await startFacadeProcess({
          ...imageEnvironment,
          ...local(environment),
          GATEWAY_URL: local(environment).GATEWAY_URL ?? '',
          ...{ HOST: '127.0.0.1', ADMIN_HOST: '127.0.0.1' },
          ...{ PORT: String(port), ADMIN_PORT: String(adminPort) },
        }),
      );
    }),
  );
  const { environment, volumes } = serviceNamed('haproxy');
  // Its ports and its socket have fixed places, of which this machine has one.
  const { BIND: _, STATS_BIND: _bind, STATS_SOCKET: _socket, ...addresses } = environment;
  const [mounted = ''] = volumes[0]?.split(':') ?? [];
  const configuration = join(deployFolder, 'compose', mounted);
  const haproxy = started.use(await startHaproxy(haproxyPath, configuration, local(addresses)));
  const owned = started.move();
  return {
    url: haproxy.url,
    gatewayUrl: gateway.url,
    replicas: processes,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export function proxyAddress(): string {
  return serviceNamed('haproxy').networks?.default.ipv4_address ?? '';
}

/** Waits for it by its own health check. */
async function startGateway(): Promise<AsyncDisposable & { readonly url: string }> {
  const { command = [], environment, healthcheck } = serviceNamed('gateway');
  const port = await freePort();
  const args = command.map((one) => one.replace('0.0.0.0', '127.0.0.1'));
  const child = spawn(process.execPath, [...args.slice(1), '--port', String(port)], {
    cwd: root,
    env: { ...imageEnvironment, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const check = healthcheck?.test.slice(2).map((one) => one.replace('4010', String(port))) ?? [];
  await eventually(() => spawnSync(process.execPath, check).status === 0);
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
