import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseWords } from '../../src/cli/args.ts'
import { command } from '../../src/cli/command.ts'
import type { ALLOWED } from '../../src/domain/secrets.ts'
import { TEST_PROVIDERS } from '../support/providers.ts'

test('the values that a command gets follow from the options that it declares', async () => {
  let got: [number, number | undefined, string, boolean, (typeof ALLOWED)[number][]] = [0, 0, '', false, []]
  const declared = command({
    name: 'try',
    positionals: [],
    summary: 'try it',
    options: ['port', 'company', 'name', 'json', 'allow'],
    required: ['name'],
    changesData: false,
    example: 'cambista try',
    async run({ options, withDatabase }) {
      got = [options.port, options.company, options.name, options.json, options.allow]
      // @ts-expect-error: it does not declare that option
      assert.equal(options.host, undefined)
      // @ts-expect-error: it has no data directory
      assert.throws(() => withDatabase({ mustExist: true }, async () => 0))
      return 0
    },
  })
  const { options } = parseWords(['--name', 'A', '--allow', 'documents:GET'], declared.options, {})
  const terminal = {
    env: {},
    providers: TEST_PROVIDERS,
    out() {},
    err() {},
    interactive: false,
    stop: new AbortController().signal,
  }
  const settings = { file: '', values: {}, hidden: false }
  await declared.run({
    options,
    flags: [],
    positionals: [],
    terminal,
    settings,
    place: undefined,
    withDatabase: undefined,
  })
  assert.deepEqual(got, [8080, undefined, 'A', false, ['documents:GET']])
})
