import { updatePriority } from '../../../store/documents/documents.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { parseId } from '../positionals.ts'
import { notFound } from '../rows.ts'
import { needDocument } from './document.ts'

export const documentSet = command({
  name: 'document set',
  positionals: ['ID'],
  options: ['priority', ...STORAGE, 'json'],
  required: ['priority'],
  changesData: true,
  run({ options, positionals, terminal, withDatabase }) {
    const id = parseId(positionals[0])
    const { priority } = options
    return withDatabase({ mustExist: true }, async (db) => {
      if (!(await updatePriority(db, id, priority))) throw notFound('document', id)
      printResult(terminal, options, await needDocument(db, id), [`document ${id} has priority ${priority}`])
    })
  },
})
