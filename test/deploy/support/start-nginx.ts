import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCertificate } from '../../support/certificate.ts';
import { freePorts } from '../../support/free-ports.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { startProgram } from '../../support/started-program.ts';
import { readDeployed } from './files.ts';

/** What Debian's unit gives a process that asks for no more. */
const USUAL_FILES = 1_024;

/** The file but for its addresses, under one worker: on a machine with many cores each would have few of the sockets. */
export async function startNginx(path: string, opened: AsyncDisposableStack, replica: string) {
  const folder = opened.use(await temporaryFolder());
  const { key, certificate } = opened.use(await makeCertificate());
  const [address, secure] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const file = join(folder.path, 'nginx.conf');
  const shipped = readDeployed('nginx', 'nginx.conf');
  const placed = shipped
    .replace(/worker_processes \w+;/, 'worker_processes 1;')
    .replace('listen 8080;', `listen ${address};`)
    .replace('listen 8443 ', `listen ${secure} `)
    .replace('/etc/nginx/tls/tls.crt', certificate)
    .replace('/etc/nginx/tls/tls.key', key)
    .replaceAll(/replica-\d+:4000/g, replica);
  if (/auto;|8080|8443|4000|etc/.test(placed)) throw new Error('nginx.conf has other addresses');
  await writeFile(file, placed);
  const globals = `daemon off; pid ${folder.path}/nginx.pid; error_log stderr;`;
  const command = [path, '-p', folder.path, '-e', 'stderr', '-c', file, '-g', globals];
  const url = `http://${address}`;
  const isReady = async () => (await fetch(url)).ok;
  const limited = `ulimit -Sn ${USUAL_FILES} && exec "$0" "$@"`;
  const nginx = opened.use(await startProgram('/bin/sh', ['-c', limited, ...command], isReady));
  // Its master alone can end the worker.
  opened.defer(async () => {
    nginx.signal('SIGTERM');
    await nginx.ended();
  });
  return { url, secureUrl: `https://${secure}` };
}
