import { ConsoleSpanExporter } from '@opentelemetry/sdk-trace';
import { Registry } from 'prom-client';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { examplePlugins } from './plugins.ts';

const metrics = new Registry();
const plugins = examplePlugins({ spans: new ConsoleSpanExporter(), metrics });
const app = await startApp(readConfig(process.env), { plugins });
console.log(`serving at ${app.url}/graphql; spans follow, and the plugins' metrics after Ctrl+C`);
process.once('SIGINT', async () => {
  console.log(await metrics.metrics());
  await app.close();
});
