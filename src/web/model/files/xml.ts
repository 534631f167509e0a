// XML of a workbook: names, and the parts that refer to its sheets.

export const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
export const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const CONTENT_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

/** `table`: range of the headings and rows, as `$A$6:$K$17`. `print`: area or repeated rows of paper. */
export type NamedSheet = { name: string; table: string; print: string }
export type PartRelation = { kind: string; target: string; isExternal?: boolean }

/** Escapes text for XML and drops the characters that XML 1.0 forbids. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** PartRelation `rId1` is the first sheet. Formulas are computed when the workbook is opened. */
export function workbookXml(sheets: readonly NamedSheet[]): string {
  const elements = sheets.map(
    ({ name }, index) => `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`,
  )
  const names = sheets.map(
    ({ name, table, print }, index) =>
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${index}" hidden="1">${name}!${table}</definedName>` +
      `<definedName name="_xlnm.Print_${index === 0 ? 'Titles' : 'Area'}" localSheetId="${index}">` +
      `${name}!${print}</definedName>`,
  )
  return (
    `${XML_DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${elements.join('')}</sheets>` +
    `<definedNames>${names.join('')}</definedNames><calcPr calcId="191029" fullCalcOnLoad="1"/></workbook>`
  )
}

export function relationsXml(relations: readonly PartRelation[]): string {
  const elements = relations.map(
    ({ kind, target, isExternal }, index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${kind}" Target="${escapeXml(target)}"` +
      `${isExternal ? ' TargetMode="External"' : ''}/>`,
  )
  return `${XML_DECLARATION}<Relationships xmlns="${RELATIONS}">${elements.join('')}</Relationships>`
}

export function contentTypesXml(sheetCount: number): string {
  const sheets = Array.from({ length: sheetCount }, (_, index) => [
    `/xl/worksheets/sheet${index + 1}.xml`,
    `${CONTENT_TYPE}.worksheet+xml`,
  ])
  const parts = [
    ['/xl/workbook.xml', `${CONTENT_TYPE}.sheet.main+xml`],
    ...sheets,
    ['/xl/styles.xml', `${CONTENT_TYPE}.styles+xml`],
  ].map(([path, type]) => `<Override PartName="${path}" ContentType="${type}"/>`)
  return (
    `${XML_DECLARATION}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`
  )
}
