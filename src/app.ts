import { type AppOptions, withDefaults } from './app/app-options.ts';
import { watchGauges } from './app/observe.ts';
import { openResources } from './app/open-resources.ts';
import { programBuild } from './app/program-version.ts';
import { atAddress, findUnusable } from './app/resources.ts';
import { createShutdown } from './app/shutdown.ts';
import { wireServer } from './app/wire-server.ts';
import { type Config, ConfigError } from './config.ts';
import { createAdminServer } from './engine/index.ts';
import { listen } from './lib/listen.ts';

export type App = Awaited<ReturnType<typeof startApp>>;

/** Starts the service; throws one ConfigError of all that cannot be used. The rest is tried only then: a probe could take a listener for the service. */
export function startApp(config: Config, given: AppOptions = {}) {
  return compose(config, given).catch(async (error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    const faulty = problems.map((line) => line.replace(/=.*/s, ''));
    throw new ConfigError([...problems, ...(await findUnusable(config, new Set(faulty)))]);
  });
}

/** The composition root: what knows every layer, and makes every lasting object. */
async function compose(config: Config, given: AppOptions) {
  const options = withDefaults(config, given);
  // Disposal closes what was opened where a later part cannot start.
  await using started = new AsyncDisposableStack();

  // These are opened first: the sandbox, tracing, the gateway, stores, trusted documents and live feeds.
  const opened = await openResources(config, options, started);

  // Then its transports are wired, and what operators see of all.
  const wired = await wireServer(config, options, opened);
  watchGauges(config, options, opened, wired);
  const build = programBuild(config);
  opened.metrics.buildInfo.from(() => 1, build.version, build.revision, process.version);

  // Both ports listen: clients come last.
  const admin = createAdminServer(opened.metrics.registry, wired.readiness, build);
  const adminPort = await atAddress(config, 'admin', (port, host) => listen(admin, port, host));
  started.defer(() => {
    admin.close();
    admin.closeAllConnections();
  });
  const port = await atAddress(config, 'public', (port, host) => wired.server.listen(port, host));
  wired.readiness.phase = 'serving';

  return {
    build,
    url: addressOf(config.host, port),
    adminUrl: addressOf(config.adminHost, adminPort),
    // The transports are closed first, then what was opened, the last first.
    close: createShutdown(config, options, opened.domain, wired, started.move()),
  };
}

function addressOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
