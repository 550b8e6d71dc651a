"""The fixed parts of a presentation: types, theme, master, layouts. Used by pptx_make.py."""

NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPE = "application/vnd.openxmlformats-officedocument.presentationml"
EMU = 12700
WIDTH, HEIGHT = 960, 540
THEMES = {
    "blue": {
        "dk1": "1F2933",
        "lt1": "FFFFFF",
        "dk2": "14375E",
        "lt2": "EEF3F8",
        "accent1": "1F5FA8",
        "accent2": "E07A1F",
    },
    "green": {
        "dk1": "1F2933",
        "lt1": "FFFFFF",
        "dk2": "14532D",
        "lt2": "EEF7F0",
        "accent1": "1E7B45",
        "accent2": "C2571A",
    },
    "grey": {
        "dk1": "222222",
        "lt1": "FFFFFF",
        "dk2": "333333",
        "lt2": "F2F2F2",
        "accent1": "555555",
        "accent2": "B45309",
    },
    "red": {
        "dk1": "2B1B1B",
        "lt1": "FFFFFF",
        "dk2": "7F1D1D",
        "lt2": "FBF1F0",
        "accent1": "B3261E",
        "accent2": "1F5FA8",
    },
}
# Where things stand, in points from the top left: left, top, width, height.
BOXES = {
    "title": (48, 28, 864, 72),
    "body": (48, 116, 864, 372),
    "left": (48, 116, 420, 372),
    "right": (492, 116, 420, 372),
    "top": (48, 112, 864, 84),
    "below": (48, 204, 864, 284),
    "cover_title": (96, 150, 768, 120),
    "cover_text": (96, 284, 768, 90),
}
LAYOUTS = ("cover", "text", "columns", "title_only")


def place(box):
    left, top, width, height = (round(value * EMU) for value in box)
    return f'<a:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


def relationships(targets):
    """`(kind, target)` in order; ids are rId1, rId2 and so on."""
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{HEAD}<Relationships xmlns="{PACKAGE}">{rows}</Relationships>'


def content_types(slides, notes, pictures):
    defaults = "".join(
        f'<Default Extension="{ending}" ContentType="{kind}"/>'
        for ending, kind in sorted(
            {
                "rels": "application/vnd.openxmlformats-package.relationships+xml",
                "xml": "application/xml",
                **pictures,
            }.items()
        )
    )
    parts = [
        ("/ppt/presentation.xml", f"{TYPE}.presentation.main+xml"),
        ("/ppt/slideMasters/slideMaster1.xml", f"{TYPE}.slideMaster+xml"),
        ("/ppt/theme/theme1.xml", "application/vnd.openxmlformats-officedocument.theme+xml"),
        ("/docProps/core.xml", "application/vnd.openxmlformats-package.core-properties+xml"),
        ("/docProps/app.xml", "application/vnd.openxmlformats-officedocument.extended-properties+xml"),
    ]
    parts += [
        (f"/ppt/slideLayouts/slideLayout{number}.xml", f"{TYPE}.slideLayout+xml")
        for number in range(1, len(LAYOUTS) + 1)
    ]
    parts += [(f"/ppt/slides/slide{number}.xml", f"{TYPE}.slide+xml") for number in range(1, slides + 1)]
    if notes:
        parts += [
            ("/ppt/notesMasters/notesMaster1.xml", f"{TYPE}.notesMaster+xml"),
            ("/ppt/theme/theme2.xml", "application/vnd.openxmlformats-officedocument.theme+xml"),
        ]
        parts += [(f"/ppt/notesSlides/notesSlide{number}.xml", f"{TYPE}.notesSlide+xml") for number in notes]
    overrides = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in parts)
    return (
        f"{HEAD}<Types "
        f'xmlns="http://schemas.openxmlformats.org/package/2006/content-types">{defaults}{overrides}</Types>'
    )


def theme(colours):
    filled = {
        **colours,
        "accent3": "6B7280",
        "accent4": "0F766E",
        "accent5": "7C3AED",
        "accent6": "B91C1C",
        "hlink": colours["accent1"],
        "folHlink": "6B7280",
    }
    order = (
        "dk1",
        "lt1",
        "dk2",
        "lt2",
        "accent1",
        "accent2",
        "accent3",
        "accent4",
        "accent5",
        "accent6",
        "hlink",
        "folHlink",
    )
    scheme = "".join(f'<a:{name}><a:srgbClr val="{filled[name]}"/></a:{name}>' for name in order)
    fonts = '<a:latin typeface="Calibri"/><a:ea typeface="Microsoft YaHei"/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    line = f'<a:ln w="9525">{fill}</a:ln>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'{HEAD}<a:theme {NAMESPACES.split(" xmlns:r")[0]} name="AgentYard"><a:themeElements><a:clrScheme '
        f'name="AgentYard">{scheme}</a:clrScheme><a:fontScheme name="AgentYard"><a:majorFont>{fonts}</a:majorFont>'
        f'<a:minorFont>{fonts}</a:minorFont></a:fontScheme><a:fmtScheme name="AgentYard">'
        f"<a:fillStyleLst>{fill * 3}</a:fillStyleLst><a:lnStyleLst>{line * 3}</a:lnStyleLst>"
        f"<a:effectStyleLst>{effect * 3}</a:effectStyleLst><a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst>"
        "</a:fmtScheme></a:themeElements></a:theme>"
    )


TREE = (
    '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr><a:xfrm><a:off x="0" '
    'y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/></a:xfrm></p:grpSpPr>'
)


def empty_placeholder(number, kind, index, box, prompt):
    at = f' idx="{index}"' if index else ""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{prompt} {number}"/><p:cNvSpPr><a:spLocks noGrp="1"/>'
        f'</p:cNvSpPr><p:nvPr><p:ph type="{kind}"{at}/></p:nvPr></p:nvSpPr><p:spPr>{place(box)}<a:prstGeom '
        'prst="rect"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r><a:rPr '
        f'lang="en-US"/><a:t>{prompt}</a:t></a:r></a:p></p:txBody></p:sp>'
    )


def master():
    levels = "".join(
        f'<a:lvl{level}pPr marL="{279400 * level}" indent="-279400" algn="l"><a:spcBef><a:spcPts val="600"/>'
        f'</a:spcBef><a:buFont typeface="Arial"/><a:buChar char="•"/><a:defRPr sz="{size}"><a:solidFill>'
        '<a:schemeClr val="tx1"/></a:solidFill><a:latin typeface="+mn-lt"/><a:ea typeface="+mn-ea"/></a:defRPr>'
        f"</a:lvl{level}pPr>"
        for level, size in ((1, 2400), (2, 2000), (3, 1800))
    )
    title = (
        '<a:lvl1pPr algn="l"><a:spcBef><a:spcPct val="0"/></a:spcBef><a:buNone/><a:defRPr sz="3200" b="1">'
        '<a:solidFill><a:schemeClr val="tx2"/></a:solidFill><a:latin typeface="+mj-lt"/><a:ea typeface="+mj-ea"/>'
        "</a:defRPr></a:lvl1pPr>"
    )
    shapes = empty_placeholder(2, "title", "", BOXES["title"], "Title") + empty_placeholder(
        3, "body", "1", BOXES["body"], "Text"
    )
    ids = "".join(
        f'<p:sldLayoutId id="{2147483649 + number}" r:id="rId{number}"/>' for number in range(1, len(LAYOUTS) + 1)
    )
    return (
        f'{HEAD}<p:sldMaster {NAMESPACES}><p:cSld><p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/>'
        f"</a:solidFill><a:effectLst/></p:bgPr></p:bg><p:spTree>{TREE}{shapes}</p:spTree></p:cSld><p:clrMap "
        'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" '
        'accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
        f"<p:sldLayoutIdLst>{ids}</p:sldLayoutIdLst><p:txStyles><p:titleStyle>{title}</p:titleStyle>"
        f"<p:bodyStyle>{levels}</p:bodyStyle><p:otherStyle/></p:txStyles></p:sldMaster>"
    )


def layout(name):
    stripe = (
        '<p:sp><p:nvSpPr><p:cNvPr id="9" name="Stripe"/><p:cNvSpPr/><p:nvPr userDrawn="1"/></p:nvSpPr>'
        f'<p:spPr>{place((0, 0, 12, HEIGHT))}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:solidFill>'
        '<a:schemeClr val="accent1"/></a:solidFill><a:ln><a:noFill/></a:ln></p:spPr><p:txBody><a:bodyPr/>'
        '<a:lstStyle/><a:p><a:endParaRPr lang="en-US"/></a:p></p:txBody></p:sp>'
    )
    shapes = {
        "cover": empty_placeholder(2, "ctrTitle", "", BOXES["cover_title"], "Title")
        + empty_placeholder(3, "subTitle", "1", BOXES["cover_text"], "Subtitle"),
        "text": empty_placeholder(2, "title", "", BOXES["title"], "Title")
        + empty_placeholder(3, "body", "1", BOXES["body"], "Text"),
        "columns": empty_placeholder(2, "title", "", BOXES["title"], "Title")
        + empty_placeholder(3, "body", "1", BOXES["left"], "Left")
        + empty_placeholder(4, "body", "2", BOXES["right"], "Right"),
        "title_only": empty_placeholder(2, "title", "", BOXES["title"], "Title"),
    }[name]
    kind = {"cover": "title", "text": "tx", "columns": "twoColTx", "title_only": "titleOnly"}[name]
    return (
        f'{HEAD}<p:sldLayout {NAMESPACES} type="{kind}" preserve="1"><p:cSld name="{name.replace("_", " ")}">'
        f"<p:spTree>{TREE}{stripe}{shapes}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>"
        "</p:sldLayout>"
    )


def notes_master():
    shapes = (
        '<p:sp><p:nvSpPr><p:cNvPr id="2" name="Slide image"/><p:cNvSpPr><a:spLocks noGrp="1" noRot="1" '
        'noChangeAspect="1"/></p:cNvSpPr><p:nvPr><p:ph type="sldImg" idx="2"/></p:nvPr></p:nvSpPr>'
        f'<p:spPr>{place((54, 90, 432, 243))}<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:sp>'
        + empty_placeholder(3, "body", "3", (54, 350, 432, 300), "Notes")
    )
    return (
        f'{HEAD}<p:notesMaster {NAMESPACES}><p:cSld><p:bg><p:bgPr><a:solidFill><a:schemeClr val="bg1"/>'
        f"</a:solidFill><a:effectLst/></p:bgPr></p:bg><p:spTree>{TREE}{shapes}</p:spTree></p:cSld><p:clrMap "
        'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" '
        'accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
        "</p:notesMaster>"
    )


def presentation(slides, has_notes):
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number + 2}"/>' for number in range(1, slides + 1))
    notes = f'<p:notesMasterIdLst><p:notesMasterId r:id="rId{slides + 3}"/></p:notesMasterIdLst>' if has_notes else ""
    return (
        f'{HEAD}<p:presentation {NAMESPACES} saveSubsetFonts="1"><p:sldMasterIdLst><p:sldMasterId id="2147483648" '
        f'r:id="rId1"/></p:sldMasterIdLst>{notes}<p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="{WIDTH * EMU}" '
        f'cy="{HEIGHT * EMU}"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>'
    )


def core(title, author, made):
    return (
        f"{HEAD}<cp:coreProperties "
        'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>{title}</dc:title>'
        f'<dc:creator>{author}</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">{made}</dcterms:created>'
        "</cp:coreProperties>"
    )


def app(slides):
    return (
        f'{HEAD}<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
        f"<Application>AgentYard</Application><Slides>{slides}</Slides></Properties>"
    )
