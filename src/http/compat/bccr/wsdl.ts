// The description of the old web service, as .NET wrote it: programs make their calls from it, and send them to the address
// that stands in it.

import { OPERATIONS, type Operation, PARAMETERS } from './operation.ts'
import { DECLARATION, escapeText, NAMESPACE } from './rows.ts'

const NAME = 'wsindicadoreseconomicos'
const HTTP = 'http://schemas.xmlsoap.org/soap/http'
const NAMESPACES = [
  'xmlns:tm="http://microsoft.com/wsdl/mime/textMatching/"',
  'xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"',
  'xmlns:mime="http://schemas.xmlsoap.org/wsdl/mime/"',
  `xmlns:tns="${NAMESPACE}"`,
  'xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"',
  'xmlns:s="http://www.w3.org/2001/XMLSchema"',
  'xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"',
  'xmlns:http="http://schemas.xmlsoap.org/wsdl/http/"',
  'xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"',
].join(' ')
const WHAT = 'Valores de un indicador económico entre dos fechas. Sin resultado: Nothing.'

type Verb = 'Get' | 'Post'

/**
 * The description with an address for all its ports.
 * @param isSimple without the reference to the schema of schemas, which some libraries would have to fetch
 */
export function wsdlOf(address: string, { isSimple }: { isSimple: boolean }): string {
  const at = escapeText(address).replaceAll('"', '&quot;')
  return [
    DECLARATION,
    `<wsdl:definitions ${NAMESPACES} targetNamespace="${NAMESPACE}">`,
    '  <wsdl:types>',
    `    <s:schema elementFormDefault="qualified" targetNamespace="${NAMESPACE}">`,
    ...OPERATIONS.flatMap((operation) => elementsOf(operation, isSimple)),
    ...dataSet('      ', '<s:element name="DataSet" nillable="true">', isSimple),
    '      <s:element name="string" nillable="true" type="s:string" />',
    '    </s:schema>',
    '  </wsdl:types>',
    ...OPERATIONS.flatMap(({ name }) => soapMessages(name)),
    ...verbs((verb) => OPERATIONS.flatMap((operation) => httpMessages(operation, verb))),
    ...portType('Soap', ({ name }) => [`${name}SoapIn`, `${name}SoapOut`]),
    ...verbs((verb) =>
      portType(`Http${verb}`, ({ name }) => [`${name}Http${verb}In`, `${name}Http${verb}Out`]),
    ),
    ...soapBinding('soap', 'Soap'),
    ...soapBinding('soap12', 'Soap12'),
    ...verbs(httpBinding),
    `  <wsdl:service name="${NAME}">`,
    ...port('Soap', `<soap:address location="${at}" />`),
    ...port('Soap12', `<soap12:address location="${at}" />`),
    ...verbs((verb) => port(`Http${verb}`, `<http:address location="${at}" />`)),
    '  </wsdl:service>',
    '</wsdl:definitions>',
  ].join('\r\n')
}

/** What a browser sees that was given the address. */
export function htmlPage(): string {
  const operations = OPERATIONS.map(({ name }) => `<li>${name}</li>`).join('')
  return `<!DOCTYPE html><html lang="es"><head><meta charset="utf-8"><title>${NAME}</title></head><body><h1>${NAME}</h1><ul>${operations}</ul><p><a href="?WSDL">WSDL</a></p></body></html>`
}

function verbs(lines: (verb: Verb) => string[]): string[] {
  return [...lines('Get'), ...lines('Post')]
}

function elementsOf({ name, hasRows }: Operation, isSimple: boolean): string[] {
  const result = `<s:element minOccurs="0" maxOccurs="1" name="${name}Result"`
  return [
    `      <s:element name="${name}">`,
    '        <s:complexType>',
    '          <s:sequence>',
    ...PARAMETERS.map(
      (one) => `            <s:element minOccurs="0" maxOccurs="1" name="${one}" type="s:string" />`,
    ),
    '          </s:sequence>',
    '        </s:complexType>',
    '      </s:element>',
    `      <s:element name="${name}Response">`,
    '        <s:complexType>',
    '          <s:sequence>',
    ...(hasRows
      ? dataSet('            ', `${result}>`, isSimple)
      : [`            ${result} type="s:string" />`]),
    '          </s:sequence>',
    '        </s:complexType>',
    '      </s:element>',
  ]
}

function dataSet(indent: string, element: string, isSimple: boolean): string[] {
  return [
    element,
    '  <s:complexType>',
    '    <s:sequence>',
    ...(isSimple ? [] : ['      <s:element ref="s:schema" />']),
    '      <s:any />',
    '    </s:sequence>',
    '  </s:complexType>',
    '</s:element>',
  ].map((line) => indent + line)
}

function soapMessages(name: string): string[] {
  return [
    `  <wsdl:message name="${name}SoapIn">`,
    `    <wsdl:part name="parameters" element="tns:${name}" />`,
    '  </wsdl:message>',
    `  <wsdl:message name="${name}SoapOut">`,
    `    <wsdl:part name="parameters" element="tns:${name}Response" />`,
    '  </wsdl:message>',
  ]
}

function httpMessages({ name, hasRows }: Operation, verb: Verb): string[] {
  return [
    `  <wsdl:message name="${name}Http${verb}In">`,
    ...PARAMETERS.map((one) => `    <wsdl:part name="${one}" type="s:string" />`),
    '  </wsdl:message>',
    `  <wsdl:message name="${name}Http${verb}Out">`,
    `    <wsdl:part name="Body" element="tns:${hasRows ? 'DataSet' : 'string'}" />`,
    '  </wsdl:message>',
  ]
}

function portType(kind: string, messages: (operation: Operation) => [string, string]): string[] {
  const operations = OPERATIONS.flatMap((operation) => {
    const [input, output] = messages(operation)
    return [
      `    <wsdl:operation name="${operation.name}">`,
      `      <wsdl:documentation xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/">${WHAT}</wsdl:documentation>`,
      `      <wsdl:input message="tns:${input}" />`,
      `      <wsdl:output message="tns:${output}" />`,
      '    </wsdl:operation>',
    ]
  })
  return [`  <wsdl:portType name="${NAME}${kind}">`, ...operations, '  </wsdl:portType>']
}

function soapBinding(prefix: 'soap' | 'soap12', kind: string): string[] {
  const operations = OPERATIONS.flatMap(({ name }) => [
    `    <wsdl:operation name="${name}">`,
    `      <${prefix}:operation soapAction="${NAMESPACE}/${name}" style="document" />`,
    `      <wsdl:input><${prefix}:body use="literal" /></wsdl:input>`,
    `      <wsdl:output><${prefix}:body use="literal" /></wsdl:output>`,
    '    </wsdl:operation>',
  ])
  return [
    `  <wsdl:binding name="${NAME}${kind}" type="tns:${NAME}Soap">`,
    `    <${prefix}:binding transport="${HTTP}" />`,
    ...operations,
    '  </wsdl:binding>',
  ]
}

function httpBinding(verb: Verb): string[] {
  const input =
    verb === 'Get' ? '<http:urlEncoded />' : '<mime:content type="application/x-www-form-urlencoded" />'
  const operations = OPERATIONS.flatMap(({ name }) => [
    `    <wsdl:operation name="${name}">`,
    `      <http:operation location="/${name}" />`,
    `      <wsdl:input>${input}</wsdl:input>`,
    '      <wsdl:output><mime:mimeXml part="Body" /></wsdl:output>',
    '    </wsdl:operation>',
  ])
  return [
    `  <wsdl:binding name="${NAME}Http${verb}" type="tns:${NAME}Http${verb}">`,
    `    <http:binding verb="${verb.toUpperCase()}" />`,
    ...operations,
    '  </wsdl:binding>',
  ]
}

function port(kind: string, address: string): string[] {
  return [
    `    <wsdl:port name="${NAME}${kind}" binding="tns:${NAME}${kind}">`,
    `      ${address}`,
    '    </wsdl:port>',
  ]
}
