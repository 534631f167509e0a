import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { parseWords } from '../../../src/cli/args.ts'
import { serve } from '../../../src/cli/commands/serve.ts'
import { variableOf } from '../../../src/cli/option-names.ts'
import { optionOf } from '../../../src/cli/options.ts'
import { unitText } from '../../../src/cli/service/install.ts'
import { settingsText } from '../../../src/cli/service/settings-file.ts'
import { parseEnvironmentFile, SETTINGS_FILE } from '../../../src/cli/settings.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

test('the settings file lists the options of serve, and systemd, Node and the program read it alike', () => {
  const text = settingsText()
  const set = { CAMBISTA_DATA_DIR: '/var/lib/cambista', CAMBISTA_BCCR_TOKEN_FILE: '/etc/cambista/bccr-token' }
  assert.deepEqual(parseEnvironmentFile(text), set)
  const all = text.replace(/^#(?=CAMBISTA_)/gm, '')
  const values = parseEnvironmentFile(all)
  assert.deepEqual(values, { ...parseEnv(all) })
  assert.deepEqual(Object.keys(values).sort(), serve.options.map(variableOf).sort())
  parseWords([], serve.options, {}, { file: SETTINGS_FILE, values })
  for (const name of serve.options) assert.ok(text.includes(`# ${optionOf(name).help}\n`), name)
})

test('the unit runs serve with the credential, as an unprivileged user, within limits', () => {
  const lines = unitText().split('\n')
  for (const line of [
    'ExecStart=/usr/local/bin/cambista serve --bccr-token-file $' + '{CREDENTIALS_DIRECTORY}/bccr-token',
    'ExecStartPost=/usr/local/bin/cambista healthcheck --wait 300 --pid $MAINPID',
    'EnvironmentFile=-/etc/cambista/cambista.env',
    'LoadCredential=bccr-token:/etc/cambista/bccr-token',
    'User=cambista',
    'StateDirectory=cambista',
    'Restart=on-failure',
    'TimeoutStopSec=30',
    'UMask=0077',
  ]) {
    assert.ok(lines.includes(line), line)
  }
  for (const name of ['MemoryHigh', 'MemoryMax', 'LimitNOFILE', 'StartLimitBurst', 'WantedBy']) {
    assert.ok(
      lines.some((line) => line.startsWith(`${name}=`)),
      name,
    )
  }
  assert.ok(!lines.some((line) => line.startsWith('MemoryDenyWriteExecute=')), 'V8 needs such memory')
})

test('systemd finds nothing to say about the unit, and an exposure of at most 1.5', (t) => {
  const version = spawnSync('systemd-analyze', ['--version'])
  if (version.error) return t.skip('there is no systemd-analyze (Debian: systemd)')
  const file = join(temporaryDirectory(t), 'cambista.service')
  writeFileSync(file, unitText().replaceAll('/usr/local/bin/cambista', process.execPath)) // verify looks for it
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  // What it says of the machine's own units is not ours; of ours it names the file.
  assert.deepEqual(
    `${verified.stdout}${verified.stderr}`.split('\n').filter((line) => line.includes('cambista')),
    [],
  )
  const threshold = ['security', '--offline=true', '--threshold=15', '--no-pager', file]
  const rated = spawnSync('systemd-analyze', threshold, { encoding: 'utf8' })
  assert.equal(rated.status, 0, rated.stdout.split('\n').slice(-3).join('\n') + rated.stderr)
  assert.match(rated.stdout, /Overall exposure level for cambista\.service: (1\.[0-5]|0\.\d) /)
})

test('with the drop-in for low ports it may take them, and no more', async (t) => {
  const { code, out, err } = await runCommand(['service', 'print', '--low-ports'])
  assert.deepEqual([code, err], [0, ''])
  const settings = out.split('\n').filter((line) => /^[^#[]/.test(line))
  const capability = [
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    'AmbientCapabilities=CAP_NET_BIND_SERVICE',
  ]
  assert.deepEqual(settings, [...capability, 'PrivateUsers=no'])
  if (spawnSync('systemd-analyze', ['--version']).error) return t.skip('there is no systemd-analyze')
  const file = join(temporaryDirectory(t), 'cambista.service')
  const dropIn = join(`${file}.d`, 'low-ports.conf')
  writeFileSync(file, unitText().replaceAll('/usr/local/bin/cambista', process.execPath))
  mkdirSync(`${file}.d`)
  const saidOf = (text: string) => {
    writeFileSync(dropIn, text)
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
    return `${verified.stdout}${verified.stderr}`
      .split('\n')
      .filter((line) => /cambista|low-ports/.test(line))
  }
  assert.deepEqual(saidOf(out), [])
  assert.match(saidOf(`${out}NoSuchSetting=1\n`).join(), /NoSuchSetting/, 'it reads the drop-in')
})

test('service print is the unit and nothing else', async () => {
  assert.deepEqual(await runCommand(['service', 'print']), { code: 0, out: unitText(), err: '' })
})
