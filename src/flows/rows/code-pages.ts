/** The characters of bytes 128 to 255 in the code pages of DOS that file names are mostly misread in. */
export const dosPages = {
  cp437:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■ ",
  cp850:
    "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´ ±‗¾¶§÷¸°¨·¹³²■ ",
} as const;

/** The characters of bytes 128 to 255 in a code page that Node reads. */
export const upperHalf = (codePage: string): string =>
  // Without `stream` some Node releases read Windows-1252 as ISO-8859-1.
  new TextDecoder(codePage).decode(
    Uint8Array.from({ length: 0x80 }, (_, index) => 0x80 + index),
    { stream: true },
  );
