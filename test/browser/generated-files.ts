import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | null = null;

/** Compiles the published ES modules of the client, once for the tests of a file. */
export function clientModules(): string {
  if (folder === null) {
    folder = mkdtempSync(join(tmpdir(), 'nsa-client-'));
    execFileSync(process.execPath, [join(__dirname, '../../scripts/build-client.mjs'), folder]);
  }
  return join(folder, 'esm');
}

afterAll(() => {
  if (folder !== null) rmSync(folder, { recursive: true, force: true });
});

export function createCertificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'nsa-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  try {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:*.example.localhost,DNS:*.localhost'];
    const args = ['req', '-x509', ...curve, '-days', '2', ...subject, '-keyout', key, '-out', cert];
    execFileSync('openssl', args, { stdio: 'pipe' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
