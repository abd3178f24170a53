"""Titles and country codes that stand beside a name and are no part of it.

Only what can hardly be a name is taken away: `Mrs.` and `Miss` stay, because they tell a wife from her husband, and so
does `Dr` alone after a comma, which may be short for Dragoljub.
"""

import re
from typing import Final

_CHESS: Final = r"(?:W?[GIF]M|W?CM|W?NM)"
_ACADEMIC: Final = (
    r"(?:[Dd]r|DR(?=\.)|[Pp]rof|PROF(?=\.)|Professor|Doctor|Doktor|Rev|Reverend|Herr|Mr|Monsieur|Hr|Dhr)"
)
_LEADING: Final = re.compile(rf"(?:(?:{_CHESS}|{_ACADEMIC})(?:\.\s*|\s+))+(?=\w\w|\w[. ])")
_AFTER_COMMA: Final = re.compile(rf"(?<=, )(?:{_ACADEMIC}(?:\.\s*|\s+))+(?=\w)")
_TRAILING: Final = re.compile(rf"(?<=\w|\.)(?:,? {_ACADEMIC}\.?)+$")
_IN_BRACKETS: Final = re.compile(rf"\s*[(\[](?:{_CHESS}|{_ACADEMIC}\.?)[)\]]$")
_COUNTRY: Final = re.compile(r"\s*[(\[]([A-Z]{3})[)\]]$")
_PERHAPS: Final = re.compile(rf"[\])]$|\b(?:{_CHESS}|{_ACADEMIC})\b")
_CODES: Final = """
AFG AHO ALB ALG AND ANG ANT ARG ARM ARU ASA AUS AUT AZE BAH BAN BAR BDI BEL BEN BER BHU BIH BIZ BLR BOH BOL
BOT BRA BRN BRU BUL BUR CAF CAM CAN CAY CHA CHI CHN CIV CMR COD COG COK COL COM CPV CRC CRO CUB CUW CYP CZE
DDR DEN DJI DMA DOM ECU EGY ENG ERI ESA ESP EST ETH EUN FAI FIJ FIN FRA FRG FRO FSM GAB GAM GBR GBS GCI GDR
GEO GEQ GER GHA GRE GRL GRN GUA GUI GUM GUY HAI HKG HOL HON HUN IMN INA IND IOM IRI IRL IRQ ISL ISR ISV ITA
IVB JAM JAP JCI JOR JPN JUG KAZ KEN KGZ KIR KOR KOS KSA KUW LAO LAT LBA LBN LBR LCA LES LIB LIE LTU LUX MAC
MAD MAR MAS MAW MDA MDV MEX MGL MHL MKD MLI MLT MNC MNE MON MOZ MRI MTN MYA NAM NCA NCL NED NEP NGR NIC NIG
NLD NOR NRU NZL OMA PAK PAN PAR PER PHI PLE PLW PNG POL POR PRK PUR QAT RHO ROM ROU RSA RUS RWA SAA SAM SCG
SCO SEN SEY SIN SGP SKN SLE SLO SMR SOL SOM SRB SRI SSD STP SUD SUI SUR SVK SWE SWZ SYR TAN TCH TGA THA TJK
TKM TLS TOG TPE TTO TUN TUR TUV UAE UGA UKR URS URU USA UZB VAN VEN VIE VIN VNM WLS YEM YUG ZAI ZAM ZIM
"""
COUNTRIES: Final = frozenset(_CODES.split())  # federations of FIDE and the IOC, past ones too


def without_extras(name: str) -> str:
    """A name with single blanks without titles and the code of a country, unless nothing else would be left."""
    if not _PERHAPS.search(name):
        return name
    country = _COUNTRY.search(name)
    if country and country[1] in COUNTRIES:
        name = name[: country.start()] or name
    name = _IN_BRACKETS.sub("", name) or name
    name = _LEADING.sub("", name, count=1) if _LEADING.match(name) else name
    _, comma, given = name.partition(", ")
    if comma and given:
        name = _AFTER_COMMA.sub("", name, count=1)
        if " " in given:
            name = _TRAILING.sub("", name)
    return name
