// Certificates of 127.0.0.1 behind an intermediate authority, for a source that forgets to send it.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryDirectory } from '../temporary.ts'

/** Creates a root, an intermediate and the certificate of 127.0.0.1, as PEM. */
export function makeChain(t: TestContext) {
  const dir = temporaryDirectory(t)
  const at = (name: string) => join(dir, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const sign = (name: string, by: string, extensions: string) => {
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`)
    writeFileSync(at(`${name}.ext`), extensions)
    const authority = ['-CA', `${by}.crt`, '-CAkey', `${by}.key`, '-CAcreateserial']
    const files = ['-in', `${name}.csr`, '-extfile', `${name}.ext`, '-out', `${name}.crt`]
    openssl('x509', '-req', '-days', '2', ...authority, ...files)
  }
  const root = ['-subj', '/CN=root', '-addext', 'basicConstraints=critical,CA:TRUE']
  openssl('req', '-x509', '-days', '2', ...newKey, '-keyout', 'root.key', ...root, '-out', 'root.crt')
  sign('intermediate', 'root', 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n')
  sign('leaf', 'intermediate', 'basicConstraints=CA:FALSE\nsubjectAltName=IP:127.0.0.1\n')
  const pem = (name: string) => readFileSync(at(name), 'utf8')
  return {
    root: pem('root.crt'),
    intermediate: pem('intermediate.crt'),
    leaf: pem('leaf.crt'),
    key: pem('leaf.key'),
  }
}
