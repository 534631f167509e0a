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

test('an address of several hosts has each with its port, before the path or as parameters', () => {
  const hosts = (text: string) =>
    parseAddress(text).hosts.map(({ name, config }) => [name, config.host, config.port])
  const three = [
    ['h1', 'h1', 5432],
    ['h2:5433', 'h2', 5433],
    ['[::1]:5434', '::1', 5434],
  ]
  assert.deepEqual(hosts('postgres://erp:p@h1,h2:5433,[::1]:5434/c?target_session_attrs=read-write'), three)
  assert.deepEqual(hosts('postgres://erp:p@/c?host=h1,h2,::1&port=5432,5433,5434'), three)
  const onePort = [
    ['a:6432', 'a', 6432],
    ['b:6432', 'b', 6432],
  ]
  assert.deepEqual(hosts('postgres://erp@/c?host=a,b&port=6432'), onePort)
  assert.deepEqual(hosts('postgres://erp@a,b/c?port=6432'), onePort)
  assert.deepEqual(hosts('postgres://erp@x:6432/c?host=a,b'), onePort)
  assert.deepEqual(hosts('postgres://erp@%2Frun%2Fa:6432,%2Frun%2Fb/c'), [
    ['/run/a:6432', '/run/a', 6432],
    ['/run/b', '/run/b', 5432],
  ])
  const address = parseAddress(
    'postgres://erp:p,w@h1:5433,h2/c?connect_timeout=3&target_session_attrs=primary',
  )
  assert.deepEqual(
    [address.name, address.config.password, address.config.host, address.config.port, address.connectMs],
    ['h1:5433,h2/c', 'p,w', 'h1', 5433, 3000],
  )
  assert.equal(parseAddress('postgres://erp@h1:5433/c').name, 'h1/c')
  assert.equal(parseAddress('postgres://erp@/c?host=/run/a,/run/b').name, 'the socket of /run/a,/run/b/c')
})

test('each of several hosts has the TLS of its own name', () => {
  const tls = (text: string) => parseAddress(text).hosts.map(({ config }) => config.ssl)
  assert.deepEqual(tls('postgres://erp@localhost,db.example,10.0.0.7/c'), [false, {}, {}])
  assert.deepEqual(tls('postgres://erp@localhost,db.example/c?sslmode=verify-full'), [{}, {}])
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
    ['postgres://erp:s3cret@db/c?port=65536', /port/],
    ['postgres://erp:s3cret@db/c?host=a,b&port=1,2,3', /one port is given for all hosts, or one for each/],
    ['postgres://erp:s3cret@a,b/c?port=1,2,3', /one for each/],
    ['postgres://erp:s3cret@a/c?host=a,,b', /a host is empty/],
    ['postgres://erp:s3cret@a:1,b:port/c', /%40/],
    ['postgres://erp:s3cret,a/b@a/c', /%40/],
    ['postgres://erp:s3cret@a,b/c?target_session_attrs=standby', /target_session_attrs is read-write or/],
    ['postgres://erp:s3cret@a,b/c?target_session_attrs=any', /target_session_attrs is read-write or/],
    ['postgres://erp:s3cret@a,b/c?connect_timeout=0', /connect_timeout is a whole number/],
    ['postgres://erp:s3cret@a,b/c?connect_timeout=s3cret', /connect_timeout is a whole number/],
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
