import { isCodeCached, readBuild, VERSION } from '../../runtime/assets.ts'
import { SCHEMA_VERSION } from '../../store/migrations.ts'
import { command, printResult } from '../command.ts'

export const version = command({
  name: 'version',
  options: ['json'],
  ignoresService: true,
  async run({ options, terminal }) {
    const build = readBuild()
    const { commit, date } = build ?? { commit: null, date: null }
    const origin = build ? `commit ${commit ?? 'unknown'} of ${date?.slice(0, 10)}` : 'run from its sources'
    const document = {
      ...{ version: VERSION, commit, date, schema: SCHEMA_VERSION, packed: build !== undefined },
      ...(build && { code_cache: isCodeCached() }),
    }
    printResult(terminal, options, document, [`cambista ${VERSION}, ${origin}, schema ${SCHEMA_VERSION}`])
  },
})
