"""One slide as XML: text that is measured, tables, pictures. Used by pptx_make.py."""

from xml.sax.saxutils import escape

import measure
import parts

TABLE_SIZES = (16, 14, 12, 11)
GAP = 6


class Slide:
    """One slide: its XML, what it refers to, and what does not fit on it."""

    def __init__(self, number, layout, theme):
        self.number, self.theme, self.shapes, self.links, self.problems = (
            number,
            theme,
            [],
            [("slideLayout", f"../slideLayouts/slideLayout{parts.LAYOUTS.index(layout) + 1}.xml")],
            [],
        )

    def text(self, kind, index, box, paragraphs, sizes, name, centred=False, head=""):
        """A placeholder with the largest size at which everything fits."""
        width, height = box[2] - 16, box[3] - 8
        lines = ([(-1, head)] if head else []) + paragraphs
        for size in sizes:
            needed = measure.height_of(
                lines, lambda level, size=size: size_at(size, level), width, GAP if kind == "body" else 0
            )
            if needed <= height:
                break
        else:
            self.problems.append(
                f"{name}: the text needs {needed:.0f} points of height at size {size}, the box has {height:.0f}: "
                "shorten it, or split the slide in two"
            )
        body = "".join(
            paragraph(level, text, size_at(size, level), bold=bool(head) and place == 0)
            for place, (level, text) in enumerate(lines)
        )
        at = f' idx="{index}"' if index else ""
        anchor = "ctr" if centred or kind in ("title", "ctrTitle") else "t"
        self.shapes.append(
            f'<p:sp><p:nvSpPr><p:cNvPr id="{len(self.shapes) + 2}" name="{name}"/><p:cNvSpPr><a:spLocks '
            f'noGrp="1"/></p:cNvSpPr><p:nvPr><p:ph type="{kind}"{at}/></p:nvPr></p:nvSpPr>'
            f'<p:spPr>{parts.place(box)}</p:spPr><p:txBody><a:bodyPr wrap="square" lIns="101600" tIns="50800" '
            f'rIns="101600" bIns="50800" anchor="{anchor}"><a:noAutofit/></a:bodyPr><a:lstStyle/>{body}</p:txBody>'
            "</p:sp>"
        )

    def table(self, rows, box):
        """A table whose columns are as wide as their texts want, at the largest size that fits."""
        width = max(map(len, rows))
        rows = [row + [""] * (width - len(row)) for row in rows]
        wanted = [min(30, max(3, max(measure.em_width(cell) for cell in column) + 1.2)) for column in zip(*rows)]
        widths = [box[2] * one / sum(wanted) for one in wanted]
        for size in TABLE_SIZES:
            heights = [
                max(measure.lines_needed(cell or " ", size, max(1, wide - 16)) for cell, wide in zip(row, widths))
                * size
                * measure.LINE
                + 9
                for row in rows
            ]
            if sum(heights) <= box[3]:
                break
        else:
            self.problems.append(
                f"table: {len(rows)} rows need {sum(heights):.0f} points of height at size {size}, there are "
                f"{box[3]:.0f}: leave out rows or columns, or split the slide"
            )
        grid = "".join(f'<a:gridCol w="{round(one * parts.EMU)}"/>' for one in widths)
        body = "".join(
            f'<a:tr h="{round(height * parts.EMU)}">{"".join(self.cell(cell, size, place) for cell in row)}</a:tr>'
            for place, (row, height) in enumerate(zip(rows, heights))
        )
        left, top = round(box[0] * parts.EMU), round(box[1] * parts.EMU)
        self.shapes.append(
            f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{len(self.shapes) + 2}" name="Table"/>'
            '<p:cNvGraphicFramePr><a:graphicFrameLocks noGrp="1"/></p:cNvGraphicFramePr><p:nvPr/>'
            f'</p:nvGraphicFramePr><p:xfrm><a:off x="{left}" y="{top}"/><a:ext cx="{round(box[2] * parts.EMU)}" '
            f'cy="{round(sum(heights) * parts.EMU)}"/></p:xfrm><a:graphic><a:graphicData '
            'uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblPr firstRow="1" '
            f'bandRow="1"/><a:tblGrid>{grid}</a:tblGrid>{body}</a:tbl></a:graphicData></a:graphic>'
            "</p:graphicFrame>"
        )

    def cell(self, text, size, place):
        colour, fill = ("bg1", "accent1") if place == 0 else ("tx1", "bg2" if place % 2 == 0 else "bg1")
        number = text.replace(",", "").replace(".", "").replace("%", "").lstrip("-+¥$€").isdigit()
        run_text = (
            f'<a:r><a:rPr lang="{language(text)}" '
            f'sz="{size * 100}"{" b=" + chr(34) + "1" + chr(34) if place == 0 else ""}><a:solidFill><a:schemeClr '
            f'val="{colour}"/></a:solidFill></a:rPr><a:t>{escape(text)}</a:t></a:r>'
        )
        return (
            "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:pPr "
            f'algn="{"r" if number else "l"}"/>{run_text}</a:p></a:txBody><a:tcPr anchor="ctr"><a:solidFill>'
            f'<a:schemeClr val="{fill}"/></a:solidFill></a:tcPr></a:tc>'
        )

    def picture(self, target, size, box, described):
        scale = min(box[2] / size[0], box[3] / size[1])
        width, height = size[0] * scale, size[1] * scale
        where = (box[0] + (box[2] - width) / 2, box[1] + (box[3] - height) / 2, width, height)
        self.links.append(("image", target))
        self.shapes.append(
            f'<p:pic><p:nvPicPr><p:cNvPr id="{len(self.shapes) + 2}" name="Picture" '
            f'descr="{escape(described, {chr(34): "&quot;"})}"/><p:cNvPicPr><a:picLocks noChangeAspect="1"/>'
            f'</p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="rId{len(self.links)}"/><a:stretch>'
            f'<a:fillRect/></a:stretch></p:blipFill><p:spPr>{parts.place(where)}<a:prstGeom prst="rect"><a:avLst/>'
            "</a:prstGeom></p:spPr></p:pic>"
        )

    def xml(self):
        return (
            f"{parts.HEAD}<p:sld {parts.NAMESPACES}><p:cSld>"
            f"<p:spTree>{parts.TREE}{''.join(self.shapes)}</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/>"
            "</p:clrMapOvr></p:sld>"
        )


def paragraph(level, text, size, bold=False):
    marks = ' b="1"' if bold else ""
    plain = '<a:pPr marL="0" indent="0"><a:buNone/></a:pPr>' if level < 0 else f'<a:pPr lvl="{level}"/>'
    return (
        f'<a:p>{plain}<a:r><a:rPr lang="{language(text)}" sz="{size * 100}"{marks}/><a:t>{escape(text)}</a:t>'
        "</a:r></a:p>"
    )


def size_at(size, level):
    return max(12, size - 2 * max(0, level))


def language(text):
    return "zh-CN" if any(ord(one) > 0x2E7F for one in text) else "en-US"
