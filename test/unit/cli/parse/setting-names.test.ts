// A setting with a mistyped name must not be ignored silently.

import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { unknownSettings } from '../../../../src/cli/parse/setting-names.ts'
import { parseEnvironmentFile } from '../../../../src/cli/parse/settings.ts'
import { run } from '../../../../src/main.ts'
import { TEST_PROVIDERS } from '../../../support/providers.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { startCommand, until } from '../../../support/terminal.ts'

const NOWHERE = { file: '', values: {}, hidden: false }
const FILE = '/etc/cambista/cambista.env'
const SOURCES = join(import.meta.dirname, '../../../../src')
const GUIDES = ['guides', 'agents'].map((topic) => join(SOURCES, `manual/${topic}.md`))
const EXAMPLES = globSync(join(SOURCES, 'examples/*.*'))

const mistypedNames: [name: string, expectedName: string][] = [
  ['CAMBISTA_BAKCUP_DIR', 'CAMBISTA_BACKUP_DIR'],
  ['CAMBISTA_PROT', 'CAMBISTA_PORT'],
  ['CAMBISTA_PORTS', 'CAMBISTA_PORT'],
  ['CAMBISTA_HOSTS', 'CAMBISTA_HOST'],
  ['CAMBISTA_port', 'CAMBISTA_PORT'],
  ['CAMBISTA_BACKUP-DIR', 'CAMBISTA_BACKUP_DIR'],
  ['CAMBISTA_DATADIR', 'CAMBISTA_DATA_DIR'],
  ['CAMBISTA_BCCR_TOKEN_FIEL', 'CAMBISTA_BCCR_TOKEN_FILE'],
  ['CAMBISTA_BCCR_TOKNE', 'CAMBISTA_BCCR_TOKEN'],
  ['CAMBISTA_TLS_CRET', 'CAMBISTA_TLS_CERT'],
]
for (const [name, expectedName] of mistypedNames) {
  test(`${name} has the hint ${expectedName}, in the environment and in the settings file`, () => {
    const hint = `: did you mean ${expectedName}?`
    assert.throws(() => unknownSettings({ [name]: 'x' }, NOWHERE), {
      code: 'usage',
      message: `${name} is no setting${hint}`,
    })
    const settings = { ...NOWHERE, file: FILE, values: parseEnvironmentFile(`${name}=x\n`) }
    assert.throws(() => unknownSettings({ ...settings.values }, settings), {
      code: 'usage',
      message: `${name} in ${FILE} is no setting${hint}`,
    })
    assert.deepEqual(unknownSettings({ [name]: '' }, NOWHERE), [], 'an empty variable counts as unset')
  })
}

const acceptedNames: Record<string, string> = {
  CAMBISTA_PORT: '8080',
  CAMBISTA_BCCR_TOKEN: 'secret',
  CAMBISTA_KEY: 'secret', // a variable of `cambista mcp` in the same environment
  CAMBISTA_TOKEN: 'secret',
  CAMBIST_PORT: '1',
  cambista_port: '1',
  MY_CAMBISTA_PROT: '1',
  PATH: '/bin',
}
test('unknownSettings accepts names of settings and names without the prefix CAMBISTA_', () => {
  assert.deepEqual(unknownSettings(acceptedNames, NOWHERE), [])
})

test('unknownSettings accepts each variable that a guide or an example program reads', () => {
  const programs = EXAMPLES.flatMap(
    (file) => readFileSync(file, 'utf8').match(/(?<=["'])CAMBISTA_\w+(?=["'])/g) ?? [],
  )
  const guides = GUIDES.flatMap((file) => readFileSync(file, 'utf8').match(/CAMBISTA_\w+/g) ?? [])
  assert.ok(programs.includes('CAMBISTA_TIMEOUT') && guides.includes('CAMBISTA_SECRET'))
  const env = Object.fromEntries([...programs, ...guides].map((name) => [name, 'x']))
  assert.deepEqual(unknownSettings(env, NOWHERE), [])
})

// Kubernetes sets these for services with the names cambista, cambista-metrics and cambista-prod.
const kubernetesVariables: Record<string, string> = {
  CAMBISTA_SERVICE_HOST: '10.0.171.239',
  CAMBISTA_SERVICE_PORT: '8080',
  CAMBISTA_SERVICE_PORT_HTTP: '8080',
  CAMBISTA_PORT: 'tcp://10.0.171.239:8080',
  CAMBISTA_PORT_8080_TCP: 'tcp://10.0.171.239:8080',
  CAMBISTA_PORT_8080_TCP_PROTO: 'tcp',
  CAMBISTA_PORT_8080_TCP_PORT: '8080',
  CAMBISTA_PORT_8080_TCP_ADDR: '10.0.171.239',
  CAMBISTA_METRICS_SERVICE_HOST: '10.0.171.240',
  CAMBISTA_METRICS_PORT: 'tcp://10.0.171.240:9464',
  CAMBISTA_METRICS_PORT_9464_UDP_ADDR: '10.0.171.240',
  CAMBISTA_PROD_PORT: 'tcp://10.0.171.241:8080',
}
test('unknownSettings and `serve` ignore the variables of Kubernetes', async (t) => {
  assert.deepEqual(unknownSettings(kubernetesVariables, NOWHERE), [])
  const serving = startCommand(['serve', '--no-scheduler', '--log-format', 'json', '--port', '0'], {
    ...kubernetesVariables,
    CAMBISTA_DATA_DIR: join(temporaryDirectory(t), 'data'),
  })
  await until(() => serving.printed.err.includes('"listening"'))
  serving.stop()
  assert.equal((await serving.ended).code, 0)
  assert.doesNotMatch(serving.printed.err, /9464|not settings/)
})

test('`serve` logs other unknown names once, with their file, and starts', async (t) => {
  const home = temporaryDirectory(t)
  const file = join(home, 'cambista.env')
  writeFileSync(file, `CAMBISTA_DATA_DIR=${home}/data\nCAMBISTA_COLOUR=blue\n`)
  const env = { CAMBISTA_SHIRT_SIZE: 'M', CAMBISTA_SERVICE_HOST: '10.0.171.239' }
  const { code, err } = await serveOnce(t, env, file)
  assert.equal(code, 0)
  const lines = err.split('\n').filter((line) => line.includes('not settings'))
  assert.equal(lines.length, 1, err)
  assert.match(lines[0] ?? '', / warn {2}not settings of cambista, so they do nothing names=/)
  assert.ok(lines[0]?.includes(`"CAMBISTA_COLOUR in ${file}, CAMBISTA_SHIRT_SIZE"`), err)
})

test('`serve` stops with all mistyped names; other commands ignore them', async (t) => {
  const home = temporaryDirectory(t)
  const file = join(home, 'cambista.env')
  writeFileSync(file, `CAMBISTA_DATA_DIR=${home}/data\nCAMBISTA_BAKCUP_DIR=/mnt\n`)
  const { code, err } = await serveOnce(t, { CAMBISTA_PROT: '80' }, file)
  assert.equal(code, 2)
  const first = `CAMBISTA_BAKCUP_DIR in ${file} is no setting: did you mean CAMBISTA_BACKUP_DIR?`
  const second = 'CAMBISTA_PROT is no setting: did you mean CAMBISTA_PORT?'
  assert.equal(err.split('\n')[0], `cambista: ${first} ${second}`)
  const printed: string[] = []
  const keyCode = await run(['key', 'create', 'erp'], {
    env: {},
    settingsFile: file,
    out: (text) => printed.push(String(text)),
    err: () => {},
    providers: TEST_PROVIDERS,
    interactive: false,
    stop: new AbortController().signal,
  })
  assert.deepEqual([keyCode, printed.length], [0, 1])
})

/** Serves on a free port until it listens. */
async function serveOnce(t: TestContext, env: Record<string, string>, settingsFile: string) {
  let err = ''
  const stop = new AbortController()
  t.after(() => stop.abort())
  const code = await run(['serve', '--no-scheduler', '--port', '0'], {
    env,
    settingsFile,
    out: () => {},
    err: (text) => {
      err += text
      if (err.includes('listening')) stop.abort()
    },
    providers: TEST_PROVIDERS,
    interactive: false,
    stop: stop.signal,
  })
  return { code, err }
}
