import { ConsoleSpanExporter } from '@opentelemetry/sdk-trace';
import { Registry } from 'prom-client';
import { embeddedSandbox } from '../../sandbox/embedded.ts';
import { runApp } from '../../src/app/run-app.ts';
import { readConfig } from '../../src/config.ts';
import { examplePlugins } from './plugins.ts';

// It drains on SIGTERM and Ctrl+C as `npm start` does; then it prints what the plugins have counted.
const metrics = new Registry();
const plugins = examplePlugins({ spans: new ConsoleSpanExporter(), metrics });
await runApp(readConfig(process.env), {
  plugins,
  sandbox: embeddedSandbox,
  onClosed: async () => console.log(await metrics.metrics()),
});
