// `upgrade` and `upgrade --back` on an imitated machine, and what `service uninstall` leaves of them.

import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { SETTINGS_FILE } from '../../../../src/cli/parse/settings.ts'
import { serviceUnit } from '../../../../src/cli/service/install.ts'
import { OWN_PROCESS } from '../../../../src/cli/service/programs.ts'
import { settleUpgrade } from '../../../../src/cli/service/put-back.ts'
import { EXECUTABLE, PREVIOUS, UNIT_FILE } from '../../../../src/cli/service/service-names.ts'
import { uninstallService } from '../../../../src/cli/service/uninstall.ts'
import { PROBATION_PATH } from '../../../../src/cli/storage/probation.ts'
import { FORMER, imitateMachine, Killed, NEWER } from './imitated-machine.ts'

const INACTIVE = { status: 3, text: 'activating' }
const BEFORE = { version: '0.2.0', schema: 12, copies: 0, wal: false }
const AFTER = { version: '0.2.1', schema: 13, copies: 1, wal: true }

test('`upgrade` prints the changes, confirms the new program, and leaves the former one', async (t) => {
  const { upgrade, printed, state, isSettled, running, at } = imitateMachine(t, NEWER)
  await upgrade()
  assert.deepEqual(printed, [
    `cambista 0.2.0 (${'a'.repeat(12)}) is upgraded to 0.2.1 (${'b'.repeat(12)})`,
    '## 0.2.1 - 2026-12-01',
    '',
    '- A fix.',
    'the database is migrated from schema 12 to 13; before, its 0.0 MB are copied, in about 1 s',
    'installed',
    'ready; on probation after an upgrade',
    'cambista 0.2.1 is confirmed, and writes',
    `${PREVIOUS} is the former program: sudo cambista upgrade --back goes back to it`,
  ])
  assert.deepEqual([state(), isSettled(), running()?.version], [AFTER, true, '0.2.1'])
  assert.equal(JSON.parse(readFileSync(at(PREVIOUS), 'utf8')).version, '0.2.0')
  assert.ok(!existsSync(at(`${EXECUTABLE}.next`)))
})

for (const fate of ['broken', 'crashing'] as const) {
  test(`a ${fate} new program goes back by itself, with the database`, async (t) => {
    const { upgrade, state, isSettled, running, at, place } = imitateMachine(t, { ...NEWER, fate })
    await assert.rejects(
      upgrade(),
      /cambista 0.2.1 did not start.*cambista 0.2.0 is put back, and answers; nothing/,
    )
    assert.deepEqual([state(), isSettled(), running()?.version], [BEFORE, true, '0.2.0'])
    assert.equal(readFileSync(at(UNIT_FILE), 'utf8'), serviceUnit(place))
    assert.ok(!existsSync(at(PREVIOUS)))
  })
}

test('whichever command `upgrade` is killed at, a restart of the unit leaves one program with its database', async (t) => {
  const whole = imitateMachine(t, NEWER)
  await whole.upgrade()
  const ends = new Set<string>()
  for (let lastCommand = 1; lastCommand < whole.commands(); lastCommand++) {
    const { upgrade, state, restartAfterKill, running } = imitateMachine(t, NEWER, { lastCommand })
    await upgrade().catch((error) => assert.ok(error instanceof Killed, String(error.stack)))
    restartAfterKill()
    const { version, schema } = state()
    assert.equal(running()?.version, version, `killed at ${lastCommand}`)
    assert.deepEqual(
      { version, schema },
      version === '0.2.0' ? { version, schema: 12 } : { version, schema: 13 },
    )
    ends.add(version)
  }
  assert.deepEqual([...ends].sort(), ['0.2.0', '0.2.1'])
})

test('whichever command a return is killed at, the next start ends it', async (t) => {
  const killed = async (lastCommand: number) => {
    const one = imitateMachine(t, { ...NEWER, fate: 'broken' }, { lastCommand })
    const isKilled = await one.upgrade().catch((error) => error instanceof Killed)
    one.restartAfterKill()
    one.restartAfterKill() // systemd starts a broken program again
    assert.deepEqual([one.state(), one.isSettled(), one.running()?.version], [BEFORE, true, '0.2.0'])
    return isKilled
  }
  let kills = 0
  while (await killed(kills + 1)) kills += 1
  assert.ok(kills > 12, `${kills} kills`)
})

test('`upgrade` refuses to replace a program without `upgrade`, also over a shared database', async (t) => {
  for (const shared of [undefined, NEWER.schema]) {
    const one = imitateMachine(t, NEWER, { ...(shared && { shared }) })
    writeFileSync(one.at(EXECUTABLE), JSON.stringify({ ...FORMER, fate: 'early' }))
    const message = /cambista 0.2.0 of the service has no command upgrade: sudo .*cambista service install/
    await assert.rejects(one.upgrade(), message)
    assert.deepEqual([one.isSettled(), existsSync(one.at(PREVIOUS))], [true, false])
  }
})

test('an earlier version, an altered file, another key and the same program are refused or nothing to do', async (t) => {
  const earlier = imitateMachine(t, { ...NEWER, version: '0.1.9' })
  await assert.rejects(
    earlier.upgrade(),
    /is cambista 0.1.9; 0.2.0 is installed, which is newer: sudo cambista upgrade --back/,
  )
  const altered = imitateMachine(t, NEWER)
  writeFileSync(altered.file, JSON.stringify({ ...NEWER, fate: 'silent' }))
  await assert.rejects(altered.upgrade(), /is no file of cambista 0.2.1/)
  const unsigned = imitateMachine(t, NEWER)
  rmSync(unsigned.at('release/SHA256SUMS.minisig'))
  await assert.rejects(unsigned.upgrade(), /cannot read .*SHA256SUMS.minisig/)
  const same = imitateMachine(t, FORMER)
  await same.upgrade()
  assert.deepEqual(same.printed, [`nothing to do: cambista 0.2.0 (${'a'.repeat(12)}) is installed`])
  for (const one of [earlier, altered, unsigned, same]) {
    assert.deepEqual([one.state(), one.isSettled(), existsSync(one.at(PREVIOUS))], [BEFORE, true, false])
  }
})

test('a second `upgrade` waits for the first, and undoes one that was killed', async (t) => {
  const one = imitateMachine(t, { ...NEWER, fate: 'silent' }, { lastCommand: 16 })
  const lock = one.at('/etc/cambista/upgrade.lock')
  writeFileSync(lock, JSON.stringify(OWN_PROCESS))
  await assert.rejects(one.upgrade(), /another upgrade is under way: wait for it \(process \d+\)/)
  writeFileSync(lock, JSON.stringify({ ...OWN_PROCESS, startTime: 'of a dead process' }))
  await one.upgrade().catch((error) => assert.ok(error instanceof Killed, String(error)))
  assert.ok(existsSync(one.at(PROBATION_PATH)))
  one.endUpgrader()
  writeFileSync(one.file, JSON.stringify(NEWER)) // no file of the release
  await assert.rejects(one.upgrade(), /is no file of cambista 0.2.1/)
  assert.ok(
    one.printed.includes('the upgrade to cambista 0.2.1 was broken off: cambista 0.2.0 is put back first'),
  )
  assert.deepEqual([one.state(), one.isSettled(), one.running()?.version], [BEFORE, true, '0.2.0'])
})

test('whichever command `upgrade` is killed at, a second one ends it', async (t) => {
  const whole = imitateMachine(t, NEWER)
  await whole.upgrade()
  for (let lastCommand = 1; lastCommand < whole.commands(); lastCommand++) {
    const one = imitateMachine(t, NEWER, { lastCommand })
    await one.upgrade().catch((error) => assert.ok(error instanceof Killed, String(error.stack)))
    one.endUpgrader()
    await one.upgrade()
    const versions = [one.state().version, one.running()?.version]
    assert.deepEqual(versions, ['0.2.1', '0.2.1'], `killed at ${lastCommand}`)
  }
})

test('a broken third version after a killed `upgrade` goes back to the first, with its database', async (t) => {
  const one = imitateMachine(t, { ...NEWER, fate: 'silent' }, { lastCommand: 16 })
  await one.upgrade().catch((error) => assert.ok(error instanceof Killed, String(error)))
  assert.equal(one.state().schema, NEWER.schema)
  one.endUpgrader()
  one.publish({ ...NEWER, version: '0.3.0', fate: 'broken' })
  await assert.rejects(one.upgrade(), /cambista 0.3.0 did not start.*cambista 0.2.0 is put back/)
  assert.deepEqual([one.state(), one.isSettled(), one.running()?.version], [BEFORE, true, '0.2.0'])
})

test('a record of a program that was never installed undoes nothing', async (t) => {
  const one = imitateMachine(t, NEWER)
  await one.upgrade()
  const upgrader = { pid: 1, startTime: '-' }
  const program = { ...NEWER, version: '0.3.0' }
  const record = { program, former: FORMER, dataDir: '/var/lib/cambista', copies: [], starts: 0, upgrader }
  writeFileSync(one.at(PROBATION_PATH), JSON.stringify(record))
  settleUpgrade({
    ...one.place,
    run: (...words) => (words[1][0] === 'is-active' ? INACTIVE : one.place.run(...words)),
  })
  assert.deepEqual([one.state(), one.isSettled()], [AFTER, true])
})

test('over a shared database of an older schema `upgrade` changes nothing, and names the command', async (t) => {
  const one = imitateMachine(t, NEWER, { shared: 12 })
  await assert.rejects(
    one.upgrade(),
    ({ message }: Error) =>
      message ===
      `the nodes' database has schema 12, and cambista 0.2.1 needs schema 13: run ${one.file} database upgrade before`,
  )
  assert.deepEqual([one.state(), one.isSettled(), one.running()?.version], [BEFORE, true, '0.2.0'])
  const ready = imitateMachine(t, NEWER, { shared: 13 })
  await ready.upgrade()
  assert.ok(ready.printed.includes("the nodes' database has schema 13 already"))
  assert.deepEqual([ready.state().version, ready.running()?.version], ['0.2.1', '0.2.1'])
})

test('a running service is not settled by hand', async (t) => {
  const one = imitateMachine(t, NEWER)
  assert.throws(
    () => settleUpgrade(one.place),
    /the service runs: sudo systemctl restart cambista.service settles/,
  )
})

test('a new program that its `service install` does not install leaves the former one', async (t) => {
  const one = imitateMachine(t, { ...NEWER, fate: 'uninstallable' })
  await assert.rejects(one.upgrade(), /cambista 0.2.1 was not installed: there is no user cambista/)
  assert.deepEqual([one.state(), one.isSettled(), one.running()?.version], [BEFORE, true, '0.2.0'])
})

test('a new program that serves without probation is confirmed, since it writes', async (t) => {
  const one = imitateMachine(t, { ...NEWER, fate: 'writing' })
  await one.upgrade()
  assert.deepEqual([one.state(), one.isSettled(), one.running()?.version], [AFTER, true, '0.2.1'])
})

test('`upgrade --back` swaps the programs, and a second one swaps them again', async (t) => {
  const one = imitateMachine(t, { ...NEWER, schema: FORMER.schema })
  await one.upgrade()
  for (const [version, former] of [
    ['0.2.0', '0.2.1'],
    ['0.2.1', '0.2.0'],
  ]) {
    one.printed.length = 0
    await one.goBack()
    assert.deepEqual([one.state().version, one.running()?.version], [version, version])
    assert.equal(one.printed.at(-1), `cambista ${version} is back; ${PREVIOUS} is cambista ${former}`)
  }
})

test('`upgrade --back` changes nothing if the former program is not installed', async (t) => {
  const one = imitateMachine(t, { ...NEWER, schema: FORMER.schema })
  await one.upgrade()
  const former = JSON.stringify({ ...FORMER, fate: 'uninstallable' })
  writeFileSync(one.at(PREVIOUS), former)
  await assert.rejects(one.goBack(), /^AppError: the programs were not exchanged: there is no user cambista$/)
  assert.deepEqual([one.state().version, one.running()?.version], ['0.2.1', '0.2.1'])
  assert.equal(readFileSync(one.at(PREVIOUS), 'utf8'), former)
  assert.ok(!existsSync(one.at(`${EXECUTABLE}.newer`)))
})

for (const losesData of [false, true]) {
  const command = `upgrade --back${losesData ? ' --lose-since' : ''}`
  test(`whichever command \`${command}\` is killed at, a second one ends it`, async (t) => {
    const killed = async (count: number) => {
      const one = imitateMachine(t, losesData ? NEWER : { ...NEWER, schema: FORMER.schema })
      await one.upgrade()
      one.killAfter(count)
      const isKilled = await one.goBack({ losesData }, 'yes').catch((error) => error instanceof Killed)
      if (!isKilled) return false
      one.endUpgrader()
      await one.goBack({ losesData }, 'yes')
      const former = JSON.parse(readFileSync(one.at(PREVIOUS), 'utf8'))
      const versions = [one.state().version, one.running()?.version, former.version]
      assert.deepEqual(versions, ['0.2.0', '0.2.0', '0.2.1'], `killed after ${count}`)
      assert.equal(one.state().schema, 12)
      assert.equal(one.printed.at(-1), `cambista 0.2.0 is back; ${PREVIOUS} is cambista 0.2.1`)
      return true
    }
    let kills = 0
    while (await killed(kills)) kills += 1
    assert.ok(kills > 7, `${kills} kills`)
  })
}

test('`upgrade --back` after a migration needs --lose-since, and that needs a terminal', async (t) => {
  const one = imitateMachine(t, NEWER)
  await assert.rejects(one.goBack(), /there is no former program: .*cambista.previous is missing/)
  await one.upgrade()
  await assert.rejects(
    one.goBack(),
    /0.2.0 cannot read the database, whose schema is 13 since the upgrade: sudo .* --lose-since/,
  )
  await assert.rejects(
    one.goBack({ losesData: true }),
    /--lose-since is confirmed at a terminal: there is none/,
  )
  assert.deepEqual([one.state(), one.running()?.version], [AFTER, '0.2.1'])
})

test('`upgrade --back --lose-since` prints the next command if the former program cannot be installed', async (t) => {
  const one = imitateMachine(t, NEWER)
  await one.upgrade()
  const former = JSON.stringify({ ...FORMER, fate: 'uninstallable' })
  writeFileSync(one.at(PREVIOUS), former)
  await assert.rejects(
    one.goBack({ losesData: true }, 'yes'),
    new RegExp(
      `there is no user cambista; the service is stopped, and its database is the copy: sudo ${PREVIOUS} service install ends the return`,
    ),
  )
  assert.deepEqual([one.state().version, one.state().schema, one.running()], ['0.2.1', 12, undefined])
  writeFileSync(one.at(PREVIOUS), JSON.stringify(FORMER))
  assert.equal(one.place.run(one.at(PREVIOUS), ['service', 'install']).status, 0)
  assert.deepEqual([one.state().version, one.state().schema, one.running()?.version], ['0.2.0', 12, '0.2.0'])
})

test('`service uninstall` undoes an upgrade that was killed, and waits for a running one', async (t) => {
  const one = imitateMachine(t, { ...NEWER, fate: 'silent' }, { lastCommand: 16 })
  await one.upgrade().catch((error) => assert.ok(error instanceof Killed, String(error)))
  one.endUpgrader()
  const lock = one.at('/etc/cambista/upgrade.lock')
  writeFileSync(lock, JSON.stringify(OWN_PROCESS))
  assert.throws(() => uninstallService(one.place), /another upgrade is under way/)
  rmSync(lock)
  uninstallService(one.place)
  assert.deepEqual([one.state(), one.isSettled(), existsSync(one.at(PREVIOUS))], [BEFORE, true, false])
  assert.ok(!existsSync(one.at(UNIT_FILE)))
})

test('`service uninstall` prints the directories of the settings, and the former program', async (t) => {
  const one = imitateMachine(t, NEWER)
  await one.upgrade()
  const settings = 'CAMBISTA_DATA_DIR=/srv/cambista\nCAMBISTA_BACKUP_DIR=/mnt/disk/cambista\n'
  appendFileSync(one.at(SETTINGS_FILE), settings)
  uninstallService(one.place)
  const others = `/mnt/disk/cambista, /etc/cambista (settings, token), ${EXECUTABLE}, ${PREVIOUS}, the user cambista`
  assert.deepEqual(one.printed.slice(-2), [
    `kept /srv/cambista (data), ${others}`,
    `commands still work on /srv/cambista as long as there is ${SETTINGS_FILE}`,
  ])
})
