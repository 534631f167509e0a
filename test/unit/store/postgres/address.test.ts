import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AppError } from '../../../../src/runtime/errors.ts'
import { parseAddress } from '../../../../src/store/postgres/address.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

test('the parts of an address are found, and a password with signs in it', () => {
  const { config, name, prepare } = parseAddress('postgres://erp:p%40%2Fss@127.0.0.1:5433/cambista')
  assert.deepEqual(
    [config.user, config.password, config.host, config.port, config.database],
    ['erp', 'p@/ss', '127.0.0.1', 5433, 'cambista'],
  )
  assert.equal(name, '127.0.0.1/cambista')
  assert.equal(prepare, true)
  const socket = parseAddress('postgres://erp@/cambista?host=/run/postgresql&prepare=0')
  assert.equal(socket.config.host, '/run/postgresql')
  assert.equal(socket.prepare, false)
  assert.equal(parseAddress('postgresql://erp@[::1]/cambista').config.host, '::1')
})

test('a connection to another machine is encrypted, unless it is written out that it is not', () => {
  const tls = (rest: string) => parseAddress(`postgres://erp@${rest}`).config.ssl
  assert.equal(tls('localhost/c'), false)
  assert.equal(tls('127.8.0.1/c'), false)
  assert.equal(tls('[::1]/c'), false)
  assert.deepEqual(tls('db.example/c'), {})
  assert.deepEqual(tls('10.0.0.7/c'), {})
  assert.deepEqual(tls('127.0.0.1.example/c'), {})
  assert.deepEqual(tls('db.example/c?sslmode=require'), { rejectUnauthorized: false })
  assert.equal(tls('db.example/c?sslmode=disable'), false)
  assert.deepEqual(tls('localhost/c?sslmode=verify-full'), {})
  for (const mode of ['prefer', 'allow', '']) {
    assert.throws(() => tls(`db.example/c?sslmode=${mode}`), /sslmode is one of/)
  }
  assert.throws(() => tls('db.example/c?sslmode=verify-ca'), /needs sslrootcert/)
})

test('sslmode=require with the certificate of a root trusts no other one', (t) => {
  const file = join(temporaryDirectory(t), 'root.pem')
  writeFileSync(file, 'PEM')
  const { ssl } = parseAddress(`postgres://erp@db.example/c?sslmode=require&sslrootcert=${file}`).config
  assert.ok(typeof ssl === 'object' && ssl.ca === 'PEM')
  assert.notEqual(ssl.rejectUnauthorized, false)
})

test('an error of an address does not repeat it', () => {
  const wrong: [string, RegExp][] = [
    ['mysql://erp:s3cret@db/c', /does not begin/],
    ['postgres://erp:s3cret@db', /name of the database/],
    ['postgres://:s3cret@db/c', /user is missing/],
    ['postgres://erp:s3cret@db/c?sslmod=disable', /parameter sslmod is not known/],
    ['postgres://erp:s3cret@db/c?port=x', /port/],
    ['postgres://erp:s3cret@db/c?host=a,b', /one host/],
    ['postgres://erp:s3cret%@db/c', /%40/],
    ['postgres://erp:s3cret@db:port/c', /%40/],
    ['postgres://erp:@s3cret/x@db/c', /%40/],
    ['postgres://erp:@x/s3cret@db', /%40/],
    ['postgres://erp:@x/y?s3cret@db/c', /%40/],
    ['postgres://erp:@x/y?sslmode=require&z#s3cret@db/c', /%40/],
    ['postgres://erp:1/s3cret@db/c', /%40/],
    ['postgres://erp:s3cret@db/c?sslrootcert=/nowhere', /file of sslrootcert/],
  ]
  for (const [text, reason] of wrong) {
    assert.throws(
      () => parseAddress(text),
      (error) => {
        assert.ok(error instanceof AppError && error.code === 'usage', text)
        assert.match(error.message, reason)
        assert.doesNotMatch(error.message, /s3cret/)
        return true
      },
    )
  }
})
