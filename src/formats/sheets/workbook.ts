// Reads the sheets of a workbook (.xlsx, ECMA-376): stored values, and stored results of formulas. Hidden sheets are
// skipped.

import { posix } from 'node:path'
import { AppError } from '../../runtime/errors.ts'
import { addDays } from '../../values/dates.ts'
import { type Archive, openArchive } from './archive.ts'
import type { NumberFormat, Sheet } from './cells.ts'
import { readNumberFormat } from './number-format.ts'
import { readSheet } from './sheet.ts'
import { readXml } from './xml.ts'

const [DAY_0, DAY_0_OF_1904] = [addDays('1900-01-01', -2), '1904-01-01'] // workbooks count 1900 as a leap year

/** @throws AppError `failed` for an invalid workbook */
export async function readWorkbook(bytes: Buffer): Promise<Sheet[]> {
  const archive = await openArchive(bytes)
  const main = [...(await relations(archive, '')).values()].find(({ type }) =>
    type.endsWith('/officeDocument'),
  )
  const xml = main && (await archive.read(main.target))
  if (main === undefined || xml === undefined) throw new AppError('failed', 'the file is no workbook')
  const parts = await relations(archive, main.target)
  const findPart = (kind: string) => [...parts.values()].find(({ type }) => type.endsWith(`/${kind}`))?.target
  const formats = readFormats(await readPart(archive, findPart('styles')))
  const texts = readTexts(await readPart(archive, findPart('sharedStrings')))
  const { sheets, uses1904 } = readIndex(xml)
  const result: Sheet[] = []
  for (const { name, id } of sheets) {
    const part = parts.get(id)
    if (!part?.type.endsWith('/worksheet')) continue // a chart or the like
    const sheetXml = await archive.read(part.target)
    if (sheetXml === undefined) throw new AppError('failed', `the sheet ${JSON.stringify(name)} is missing`)
    const day0 = uses1904 ? DAY_0_OF_1904 : DAY_0
    result.push(readSheet(sheetXml, { name, texts, formats, day0 }))
  }
  return result
}

type Relation = { type: string; target: string }

/** Returns the relations of a part by id; the part '' is the archive. */
async function relations(archive: Archive, part: string): Promise<Map<string, Relation>> {
  const slash = part.lastIndexOf('/') + 1
  const folder = part.slice(0, slash)
  const result = new Map<string, Relation>()
  const xml = await archive.read(`${folder}_rels/${part.slice(slash)}.rels`)
  readXml(xml ?? '', {
    open(name, { Id: id = '', Type: type = '', Target: target = '' }) {
      if (name !== 'Relationship') return
      result.set(id, { type, target: posix.resolve('/', folder, target).slice(1) })
    },
  })
  return result
}

async function readPart(archive: Archive, part: string | undefined): Promise<string> {
  return (part && (await archive.read(part))) || ''
}

function readIndex(xml: string): { sheets: { name: string; id: string }[]; uses1904: boolean } {
  const sheets: { name: string; id: string }[] = []
  let uses1904 = false
  readXml(xml, {
    open(name, attributes) {
      if (name === 'workbookPr') uses1904 = /^(1|true)$/.test(attributes.date1904 ?? '')
      if (name !== 'sheet' || (attributes.state ?? 'visible') !== 'visible') return
      const [, id = ''] = Object.entries(attributes).find(([key]) => /:id$/.test(key)) ?? []
      sheets.push({ name: attributes.name ?? '', id })
    },
  })
  return { sheets, uses1904 }
}

/** Returns the formats of cells; cells refer to them by index. */
function readFormats(xml: string): NumberFormat[] {
  const codes = new Map<number, string>()
  const ids: number[] = []
  let isCellFormat = false
  readXml(xml, {
    open(name, { numFmtId = '0', formatCode = '' }) {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode)
      else if (name === 'cellXfs') isCellFormat = true
      else if (name === 'xf' && isCellFormat) ids.push(Number(numFmtId))
    },
    close(name) {
      if (name === 'cellXfs') isCellFormat = false
    },
  })
  return ids.map((id) => readNumberFormat(id, codes))
}

/** Returns the shared texts of cells. */
function readTexts(xml: string): string[] {
  const texts: string[] = []
  let [isText, isPhonetic] = [false, false]
  readXml(xml, {
    open(name) {
      if (name === 'si') texts.push('')
      else if (name === 'rPh') isPhonetic = true
      else if (name === 't') isText = !isPhonetic
    },
    text(more) {
      if (isText) texts.push((texts.pop() ?? '') + more)
    },
    close(name) {
      if (name === 't') isText = false
      else if (name === 'rPh') isPhonetic = false
    },
  })
  return texts
}
