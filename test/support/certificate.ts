import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './own-folder.ts';

const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
const LOCALHOST = '-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key.pem';

/** A server's key and certificate for 127.0.0.1, which no authority has signed. */
export async function makeCertificate() {
  const { run, file, ...folder } = await openFolder();
  run(`req -x509 ${NEW_KEY} -days 1 ${LOCALHOST} -out certificate.pem`);
  return { ...folder, key: file('key.pem'), certificate: file('certificate.pem') };
}

/** Two for 127.0.0.1 that an authority has signed: one is valid, the time of the other is over. */
export async function makeSignedCertificates() {
  const { run, file, ...folder } = await openFolder();
  run(`req -x509 ${NEW_KEY} -days 1 -subj /CN=authority -keyout authority.key -out authority.pem`);
  run(`req -new ${NEW_KEY} ${LOCALHOST} -out request.pem`);
  const signed = (days: number, name: string) => {
    const signing = '-CA authority.pem -CAkey authority.key -CAcreateserial -copy_extensions copy';
    run(`x509 -req -in request.pem ${signing} -days ${days} -out ${name}`);
    return { key: file('key.pem'), certificate: file(name) };
  };
  return {
    ...folder,
    valid: signed(1, 'valid.pem'),
    expired: signed(-1, 'expired.pem'),
    authority: file('authority.pem'),
  };
}

async function openFolder() {
  const folder = await temporaryFolder();
  return {
    run: (words: string) =>
      execFileSync('openssl', words.split(' '), { cwd: folder.path, stdio: 'ignore' }),
    file: (name: string) => join(folder.path, name),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
