import assert from 'node:assert/strict'
import { test } from 'node:test'
import { command } from '../../../src/cli/command.ts'
import { parseWords } from '../../../src/cli/parse/args.ts'
import type { ALLOWED } from '../../../src/domain/access/secrets.ts'
import { TEST_PROVIDERS } from '../../support/providers.ts'

test('`command` types the option values by the options that the command declares', async () => {
  let values: [number, number | undefined, string, boolean, (typeof ALLOWED)[number][]] = [
    0,
    0,
    '',
    false,
    [],
  ]
  const tryCommand = command({
    name: 'try',
    positionals: [],
    options: ['port', 'company', 'name', 'json', 'allow'],
    required: ['name'],
    changesData: false,
    async run({ options, withDatabase }) {
      values = [options.port, options.company, options.name, options.json, options.allow]
      // @ts-expect-error: `host` is not declared
      assert.equal(options.host, undefined)
      // @ts-expect-error: the command declares no data directory
      assert.throws(() => withDatabase({ mustExist: true }, async () => 0))
      return 0
    },
  })
  const { options } = parseWords(['--name', 'A', '--allow', 'documents:GET'], tryCommand.options, {})
  const terminal = {
    env: {},
    providers: TEST_PROVIDERS,
    out() {},
    err() {},
    interactive: false,
    stop: new AbortController().signal,
  }
  const settings = { file: '', values: {}, hidden: false }
  await tryCommand.run({
    options,
    flags: [],
    positionals: [],
    terminal,
    settings,
    storage: undefined,
    withDatabase: undefined,
  })
  assert.deepEqual(values, [8080, undefined, 'A', false, ['documents:GET']])
})
