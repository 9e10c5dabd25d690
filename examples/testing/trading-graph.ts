import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts the service of a checkout, with its sandbox gateway inside, for the tests of an app. */
export async function startTradingGraph(checkout: string, settings: Record<string, string> = {}) {
  const env = { ...process.env, PORT: '0', ADMIN_PORT: '0', ORDER_STORE: 'memory', ...settings };
  const npm = spawn('npm', ['start'], { cwd: checkout, env, detached: true });
  const ended = once(npm, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    npm.stderr.on('data', (text) => process.stderr.write(text));
    createInterface(npm.stdout).on('line', (line) => {
      if (line.includes('"msg":"serving"')) resolve(JSON.parse(line).url);
    });
    ended.then(() => reject(new Error('The service has ended.')), reject);
  });
  const control = async (path: string, body: object = {}) => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${url}/sandbox/${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  return {
    url,
    fault: (fault: object) => control('faults', fault),
    reset: () => control('reset'),
    token: async (email: string, expiresInSeconds = 3_600): Promise<string> =>
      (await control('token', { email, expiresInSeconds })).accessToken,
    async stop() {
      // npm and the service are one group of processes.
      if (npm.pid !== undefined) process.kill(-npm.pid);
      await ended;
    },
  };
}
