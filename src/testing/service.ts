import { embeddedSandbox } from '../../sandbox/embedded.ts';
import { runApp } from '../app/run-app.ts';
import { readConfig } from '../config.ts';

/** The service of one test. It has the settings of the test alone, and ends with the process of the test. */
const { environment, backendUrls } = JSON.parse(process.argv[2] ?? '{}');
process.once('disconnect', () => process.exit());
try {
  const { url } = await runApp(readConfig(environment), {
    backendUrls,
    sandbox: embeddedSandbox,
  });
  process.send?.({ url });
} catch (error) {
  const problem = error instanceof Error ? error.message : String(error);
  process.send?.({ problem }, () => process.exit(1));
}
