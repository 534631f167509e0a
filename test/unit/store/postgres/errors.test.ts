// Messages of failures whose original text contains the user, or does not help.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toDatabaseError } from '../../../../src/store/postgres/postgres-errors.ts'

const failures: [message: string, fields: object, said: RegExp, code: string][] = [
  [
    'password authentication failed for user "erp"',
    { code: '28P01', severity: 'FATAL' },
    /password.*28P01/,
    'PG_28P01',
  ],
  [
    'no entry for user "erp", no encryption',
    { code: '28000', severity: 'FATAL' },
    /pg_hba\.conf/,
    'PG_28000',
  ],
  [
    'too many connections for role "erp"',
    { code: '53300', severity: 'FATAL' },
    /max_connections/,
    'PG_53300',
  ],
  ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', {}, /PGPASSFILE/, 'PG_28P01'],
  [
    'self-signed certificate; try Node.js with',
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    /sslrootcert/,
    'PG_UNTRUSTED',
  ],
  [
    "Hostname/IP does not match certificate's altnames: Host: erp.",
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    /another host/,
    'PG_UNTRUSTED',
  ],
  ['certificate has expired', { code: 'CERT_HAS_EXPIRED' }, /expired/, 'PG_UNTRUSTED'],
  ['The server does not support SSL connections', {}, /SSL/, 'PG_UNTRUSTED'],
]
for (const [message, fields, said, code] of failures) {
  test(`in place of: ${message}`, () => {
    const error = toDatabaseError(Object.assign(new Error(message), fields))
    assert.ok(error instanceof Error)
    assert.match(error.message, said)
    assert.doesNotMatch(`${error.message} ${error.stack} ${error.cause}`, /erp/)
    assert.equal((error as Error & { code: string }).code, code)
  })
}

test('other words of the server stay, with the code in ours', () => {
  const error = Object.assign(new Error('relation "x" does not exist'), { code: '42P01', severity: 'ERROR' })
  assert.equal(toDatabaseError(error), error)
  assert.equal(error.code, 'PG_42P01')
})
