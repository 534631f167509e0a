<?php
// ADDRESS VERSION INDICATOR DATE KEY: one value by both operations of the bank's old web service.
[, $address, $version, $indicator, $date, $key] = $argv;
$client = new SoapClient("$address?WSDL", [
    'soap_version' => $version === '1.2' ? SOAP_1_2 : SOAP_1_1,
    'cache_wsdl' => WSDL_CACHE_NONE,
]);
$parameters = [
    'Indicador' => $indicator, 'FechaInicio' => $date, 'FechaFinal' => $date,
    'Nombre' => 'N', 'SubNiveles' => 'N', 'CorreoElectronico' => 'a@b.cr', 'Token' => $key,
];
$text = $client->ObtenerIndicadoresEconomicosXML($parameters)->ObtenerIndicadoresEconomicosXMLResult;
$set = $client->ObtenerIndicadoresEconomicos($parameters)->ObtenerIndicadoresEconomicosResult;
$xml = simplexml_load_string($text);
$diffgram = simplexml_load_string($set->any);
echo json_encode([
    'xml' => (float) $xml->INGC011_CAT_INDICADORECONOMIC->NUM_VALOR,
    'set' => array_map('floatval', $diffgram->xpath('//NUM_VALOR')),
]);
